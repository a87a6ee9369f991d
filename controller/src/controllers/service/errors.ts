/** A Service's load balancer could not be brought to what is wished. What the provider asked to wait is in the cause. */
export class LoadBalancerSyncError extends Error {
  readonly code = "LOAD_BALANCER_SYNC";
  /** An event of its own has said it. */
  readonly isTold: boolean;

  constructor(message: string, { isTold = false, ...options }: ErrorOptions & { readonly isTold?: boolean } = {}) {
    super(message, options);
    this.name = "LoadBalancerSyncError";
    this.isTold = isTold;
  }
}
