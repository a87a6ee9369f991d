import type { LoadBalancerReadyReason } from "../../api/load-balancer-condition.ts";
import { hasReason, ProviderError } from "../../provider/model/errors.ts";
import type { ReconcileContext, Why } from "../../runtime/reconciler.ts";
import { causesOf, messageOf } from "../../util/errors.ts";

export interface SyncErrorOptions extends ErrorOptions {
  readonly isTold?: boolean;
  /** Of no bearing on the load balancer that serves: its condition says nothing of it. */
  readonly isAside?: boolean;
  /** What the Service's condition says of it; default: by the cause. */
  readonly reason?: LoadBalancerReadyReason;
  /** In words, for the condition. */
  readonly nextTry?: string;
}

/** A Service's load balancer could not be brought to what is wished. What the provider asked to wait is in the cause. */
export class LoadBalancerSyncError extends Error {
  readonly code = "LOAD_BALANCER_SYNC";
  /** An event of its own has said it. */
  readonly isTold: boolean;
  readonly isAside: boolean;
  readonly reason: LoadBalancerReadyReason | undefined;
  readonly nextTry: string;

  constructor(
    message: string,
    { isTold = false, isAside = false, reason, nextTry, ...options }: SyncErrorOptions = {},
  ) {
    super(message, options);
    this.name = "LoadBalancerSyncError";
    this.isTold = isTold;
    this.isAside = isAside;
    this.reason = reason;
    this.nextTry = nextTry ?? "tried again after 5 seconds to 5 minutes";
  }

  /** For explain: what is known without the cause. */
  get why(): Why | undefined {
    return this.reason === undefined ? undefined : { reason: this.reason, message: this.message };
  }
}

/** One line for events: what a provider says is complete, and what gRPC made of it under way says nothing more. */
export function describe(error: unknown): string {
  return error instanceof ProviderError || error instanceof LoadBalancerSyncError ? error.message : messageOf(error);
}

/** What a provider said, however deep it lies. */
export function providerErrorOf(error: unknown): ProviderError | undefined {
  return causesOf(error).find((cause) => cause instanceof ProviderError);
}

/** Another change of the same load balancer is under way, or a newer Service was applied already. */
export function isBusy(error: ProviderError | undefined): boolean {
  return hasReason(error, "OPERATION_IN_PROGRESS") || hasReason(error, "STALE_GENERATION");
}

/** The call has not been sent: others go first, so that the cloud is not called too often. Nothing has failed. */
export function isInLine(error: unknown): boolean {
  return providerErrorOf(error)?.isTurnedAway === true;
}

/** Nothing that a user must hear: an end of this process, a busy provider, a call not sent yet, or a sidecar that is just being restarted. */
export function isQuiet(error: unknown, { signal, failures }: ReconcileContext): boolean {
  const fromProvider = providerErrorOf(error);
  const isRestart = fromProvider?.fromTransport === true && fromProvider.code === "UNAVAILABLE" && failures === 0;
  return signal.aborted || isBusy(fromProvider) || isInLine(error) || isRestart;
}
