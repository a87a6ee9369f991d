import { ProviderError } from "../../provider/errors.ts";
import { messageOf } from "../../util/errors.ts";

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

/** One line for events: what a provider says is complete, and what gRPC made of it under way says nothing more. */
export function describe(error: unknown): string {
  return error instanceof ProviderError || error instanceof LoadBalancerSyncError ? error.message : messageOf(error);
}
