import { type BackoffOptions, backoffMs } from "../../util/backoff.ts";
import { hasReason, type ProviderError } from "./errors.ts";

/** Waits of proto/README.md section 5, by class. No jitter: what failed together shares a batch when it is tried again. */
const OUTCOME_UNKNOWN: BackoffOptions = { initialMs: 1000, maxMs: 300_000 };
const OPERATOR: BackoffOptions = { initialMs: 60_000, maxMs: 300_000 };
const QUOTA: BackoffOptions = { initialMs: 60_000, maxMs: 900_000 };
const FINAL_MS = 1_800_000;

/** Wait after a WAIT error that does not say how long, which the contract does not allow. */
export const DEFAULT_HOLD_MS = 5000;

/**
 * How long to wait before the next try after `error`, the `failures`-th in a row; undefined: the queue's own back-off. A change of
 * the object or a new process of the provider ends any wait: that is the caller's to see to, and what FINAL really waits for.
 */
export function retryDelayMs(error: ProviderError, failures: number): number | undefined {
  const delayMs = delayOfClass(error, failures);
  const { retryAfterMs } = error;
  return retryAfterMs === undefined ? delayMs : Math.max(retryAfterMs, delayMs ?? 0);
}

function delayOfClass(error: ProviderError, failures: number): number | undefined {
  switch (error.class) {
    case "OUTCOME_UNKNOWN":
      return grown(OUTCOME_UNKNOWN, failures);
    case "TRANSIENT":
      return undefined;
    case "WAIT":
      return error.retryAfterMs ?? DEFAULT_HOLD_MS;
    case "FINAL":
      return FINAL_MS;
    case "OPERATOR":
      return grown(hasReason(error, "QUOTA_EXCEEDED") ? QUOTA : OPERATOR, failures);
    case "RESYNC":
      return failures === 1 ? 0 : grown(OUTCOME_UNKNOWN, failures);
  }
  return error.class satisfies never;
}

function grown(options: BackoffOptions, failures: number): number {
  return backoffMs(options, failures, () => 0);
}
