import { backoffMs } from "../util/backoff.ts";
import type { TokenBucket } from "../util/token-bucket.ts";

/** How long a failed key waits. */
export interface RateLimiter {
  /** Counts a failure of `key` and answers its delay. */
  delayMs(key: string): number;
  forget(key: string): void;
  failures(key: string): number;
}

export interface ExponentialOptions {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** client-go's default controller limits: 5 ms doubled to 1000 s (workqueue/default_rate_limiters.go v0.36.3). */
export const DEFAULT_BACKOFF: ExponentialOptions = { initialMs: 5, maxMs: 1_000_000 };

/** The service controller's: 5 s doubled to 5 min (cloud-provider/controllers/service/controller.go v0.36.3). */
export const SERVICE_BACKOFF: ExponentialOptions = { initialMs: 5000, maxMs: 300_000 };

/** client-go's default for a whole queue, beside the delay per key: 10 retries a second, 100 at once. */
export const DEFAULT_BUCKET = { perSecond: 10, burst: 100 } as const;

/** Doubles a key's delay with each failure in a row. No jitter, as upstream: keys fail apart from each other already. */
export function exponentialLimiter(options: ExponentialOptions): RateLimiter {
  const failures = new Map<string, number>();
  return {
    delayMs: (key) => {
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      return backoffMs(options, count, () => 0);
    },
    forget: (key) => void failures.delete(key),
    failures: (key) => failures.get(key) ?? 0,
  };
}

/** The longer of the key's own delay and what the queue-wide bucket gives. */
export function bucketLimiter(perKey: RateLimiter, bucket: TokenBucket): RateLimiter {
  return {
    delayMs: (key) => Math.max(perKey.delayMs(key), bucket.reserveMs()),
    forget: (key) => perKey.forget(key),
    failures: (key) => perKey.failures(key),
  };
}
