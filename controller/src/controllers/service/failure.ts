import type { Service } from "../../api/service.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import { type ProviderError, retryDelayMs } from "../../provider/model/errors.ts";
import { type ReconcileContext, type Result, requeueAfter } from "../../runtime/reconciler.ts";
import { type BackoffOptions, backoffMs } from "../../util/backoff.ts";
import type { Random } from "../../util/clock.ts";
import { RetryAfterError } from "../../util/errors.ts";
import { describe, isBusy, isQuiet, LoadBalancerSyncError, providerErrorOf } from "./errors.ts";
import { syncLoadBalancerFailed } from "./events.ts";
import { failureText } from "./failure-readiness.ts";

export interface FailureDependencies {
  readonly events: EventRecorder;
  readonly random: Random;
  /** Failures of this {@link failureKind} in a row, this one included. */
  readonly inARow: number;
}

/** The provider is busy with the load balancer: look again soon, without noise. */
const BUSY_MS = 2000;

/** Busy so often in a row, for half a minute, is news; then back off as upstream does for every error. */
const BUSY_TRIES = 15;
const BUSY_BACKOFF: BackoffOptions = { initialMs: 5000, maxMs: 300_000 };

/** Share of a wait that is random. */
const RETRY_JITTER = 0.2;

/** Failures of one kind are waited out with growing delays. */
export function failureKind(error: unknown): string {
  const fromProvider = providerErrorOf(error);
  return isBusy(fromProvider) ? "busy" : (fromProvider?.class ?? "");
}

/** Busy for so long that it is news. */
export function isBusyStill(error: unknown, inARow: number): boolean {
  return isBusy(providerErrorOf(error)) && inARow > BUSY_TRIES;
}

/** Says on the Service what went wrong and decides what the queue makes of it: throws, or comes back. */
export function settleFailure(
  error: unknown,
  service: Service | undefined,
  { events, random, inARow }: FailureDependencies,
  context: ReconcileContext,
): Result {
  if (context.signal.aborted) throw error;
  const fromProvider = providerErrorOf(error);
  const isStill = isBusyStill(error, inARow);
  if (isBusy(fromProvider) && !isStill) {
    context.log.debug(2, "Provider is busy with the load balancer", { err: error });
    const why = { reason: "busy", message: describe(error) };
    return requeueAfter(fromProvider?.retryAfterMs ?? BUSY_MS * (0.9 + 0.2 * random()), why);
  }
  if (service !== undefined && (isStill || (!isTold(error) && !isQuiet(error, context)))) {
    events.record(syncLoadBalancerFailed(service, failureText(error)));
  }
  const delayMs = fromProvider && jittered(fromProvider, waitMs(fromProvider, inARow), random);
  throw delayMs === undefined ? error : new RetryAfterError(describe(error), delayMs, { cause: error });
}

/** Services that failed together do not all come back together. What a provider asked for is kept to. */
function jittered({ retryAfterMs }: ProviderError, delayMs: number | undefined, random: Random): number | undefined {
  return delayMs === undefined || retryAfterMs !== undefined
    ? delayMs
    : delayMs * (1 + RETRY_JITTER * (random() - 0.5));
}

/** undefined: the queue's own back-off. */
function waitMs(error: ProviderError, inARow: number): number | undefined {
  if (!isBusy(error)) return retryDelayMs(error, inARow);
  return Math.max(
    error.retryAfterMs ?? 0,
    backoffMs(BUSY_BACKOFF, inARow - BUSY_TRIES, () => 0),
  );
}

function isTold(error: unknown): boolean {
  return error instanceof LoadBalancerSyncError && error.isTold;
}
