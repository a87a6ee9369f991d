import type { Settings } from "../../api/admin.ts";

interface Bucket {
  tokens: number;
  filledMs: number;
}

/** One token bucket an account. */
export class RateLimiter {
  readonly #buckets = new Map<string, Bucket>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Takes a token; answers 0, or the milliseconds until one is there. */
  take(account: string, limit: Settings["rateLimit"]): number {
    if (limit.perSecond === 0) {
      this.#buckets.delete(account);
      return 0;
    }
    const nowMs = this.#now();
    const bucket = this.#buckets.get(account) ?? { tokens: limit.burst, filledMs: nowMs };
    this.#buckets.set(account, bucket);
    const gained = ((nowMs - bucket.filledMs) / 1000) * limit.perSecond;
    bucket.tokens = Math.min(limit.burst, bucket.tokens + gained);
    bucket.filledMs = nowMs;
    if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) / limit.perSecond) * 1000);
    bucket.tokens -= 1;
    return 0;
  }
}
