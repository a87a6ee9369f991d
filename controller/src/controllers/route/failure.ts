import { hasReason, type ProviderError } from "../../provider/errors.ts";
import { RetryAfterError } from "../../util/errors.ts";

/** Routes of a Node, or of a whole provider, are not as they should be. What the provider asked to wait is in the cause. */
export class RouteSyncError extends Error {
  readonly code = "ROUTE_SYNC";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "RouteSyncError";
  }
}

/** One range of a Node has no route. */
export interface RangeFailure {
  readonly cidr: string;
  readonly nameHint: string;
  readonly message: string;
  /** undefined: the provider was not asked. */
  readonly error: ProviderError | undefined;
  /** The machine itself is gone: its Node will follow. */
  readonly isTargetGone: boolean;
}

/** For what somebody must change at the cloud or in the cluster. Rooms that come free wake the waiting before. */
const BLOCKED_MS = 300_000;

/** For what an operator must change at the provider. proto/README.md section 5, class O. */
const OPERATOR_MS = 60_000;

/** For what nobody's waiting cures. proto/README.md section 5, class F. */
const FINAL_MS = 1_800_000;

/** How long to wait before the next try, whatever failed before; undefined: the queue's back-off. */
export function fixedWaitMs({ error, isTargetGone }: RangeFailure): number | undefined {
  if (error === undefined || isTargetGone) return BLOCKED_MS;
  const { retryAfterMs, class: errorClass } = error;
  if (retryAfterMs !== undefined) return retryAfterMs;
  if (hasReason(error, "CIDR_CONFLICT") || hasReason(error, "QUOTA_EXCEEDED")) return BLOCKED_MS;
  if (errorClass === "OPERATOR") return OPERATOR_MS;
  return errorClass === "FINAL" ? FINAL_MS : undefined;
}

/** A free range or room in the table would help. */
export function waitsForRoom({ error }: RangeFailure): boolean {
  return error === undefined || hasReason(error, "QUOTA_EXCEEDED") || hasReason(error, "CIDR_CONFLICT");
}

/**
 * Somebody who reads events can do something about it, or wants to know. Not so when the cloud throttles, when the machine is gone,
 * or when the provider is just being restarted; if it stays away, the next try says so.
 */
export function isNews({ error, isTargetGone }: RangeFailure, failuresBefore: number): boolean {
  if (isTargetGone || error?.class === "WAIT") return false;
  const isRestart = error?.fromTransport === true && error.code === "UNAVAILABLE";
  return !isRestart || failuresBefore > 0;
}

/** One error for all failures: the soonest wait; back-off as soon as one of them wants it. */
export function failureOf(nodeName: string, failures: readonly RangeFailure[]): Error {
  const ranges = failures.map(({ cidr, message }) => `${cidr}: ${message}`).join("; ");
  const message = `route node ${nodeName}: ${ranges}`;
  const waits = failures.map(fixedWaitMs);
  const unfixed = waits.indexOf(undefined);
  const cause = failures[Math.max(0, unfixed)]?.error;
  if (unfixed >= 0) return new RouteSyncError(message, { cause });
  return new RetryAfterError(message, Math.min(...waits.map((waitMs) => waitMs ?? 0)), { cause });
}
