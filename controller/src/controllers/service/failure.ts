import type { Service } from "../../api/service.ts";
import type { EventRecorder } from "../../kube/event-recorder.ts";
import { isOfClass } from "../../provider/errors.ts";
import type { ReconcileContext } from "../../runtime/reconciler.ts";
import { type Result, requeueAfter } from "../../runtime/result.ts";
import { type BackoffOptions, backoffMs } from "../../util/backoff.ts";
import type { Random } from "../../util/clock.ts";
import { RetryAfterError } from "../../util/errors.ts";
import { describe, isBusy, isQuiet, LoadBalancerSyncError, providerErrorOf } from "./errors.ts";
import { syncLoadBalancerFailed } from "./events.ts";

export interface FailureDependencies {
  readonly events: EventRecorder;
  readonly random: Random;
  /** Failures of the Service in a row, this one included. */
  readonly inARow: number;
}

/** The provider is busy with the load balancer: look again soon, without noise. */
const BUSY_MS = 2000;

/** Busy so often in a row, for half a minute, is news; then back off as upstream does for every error. */
const BUSY_TRIES = 15;
const BUSY_BACKOFF: BackoffOptions = { initialMs: 5000, maxMs: 300_000 };

/** What nobody's waiting cures is tried again this slowly, in case the provider has changed. proto/README.md section 5, class F. */
export const FINAL_MS = 1_800_000;

/** Says on the Service what went wrong and decides what the queue makes of it: throws, or comes back. */
export function settleFailure(
  error: unknown,
  service: Service | undefined,
  { events, random, inARow }: FailureDependencies,
  context: ReconcileContext,
): Result {
  if (context.signal.aborted) throw error;
  const fromProvider = providerErrorOf(error);
  const isBusyStill = isBusy(fromProvider) && inARow > BUSY_TRIES;
  if (isBusy(fromProvider) && !isBusyStill) {
    context.log.debug(2, "Provider is busy with the load balancer", { err: error });
    return requeueAfter(fromProvider.retryAfterMs ?? BUSY_MS * (0.9 + 0.2 * random()));
  }
  if (service !== undefined && (isBusyStill || (!isTold(error) && !isQuiet(error, context)))) {
    events.record(syncLoadBalancerFailed(service, describe(error)));
  }
  if (isBusyStill) {
    const delayMs = Math.max(
      fromProvider.retryAfterMs ?? 0,
      backoffMs(BUSY_BACKOFF, inARow - BUSY_TRIES, () => 0),
    );
    throw new RetryAfterError(describe(error), delayMs, { cause: error });
  }
  if (isOfClass(fromProvider, "FINAL")) throw new RetryAfterError(describe(error), FINAL_MS, { cause: error });
  throw error;
}

function isTold(error: unknown): boolean {
  return error instanceof LoadBalancerSyncError && error.isTold;
}
