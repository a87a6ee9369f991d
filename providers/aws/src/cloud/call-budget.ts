import type { RateLimit } from "@cloudwire/provider-sdk";

/** How long a service of AWS is taken to throttle when it does not say. Its buckets fill again within seconds. */
const refillMs = 5_000;

/** What a service of AWS lets be known of its call budget: only that it is used up. */
export class CallBudget {
  readonly #name: string;
  #throttledUntilMs = 0;

  constructor(name: string) {
    this.#name = name;
  }

  /** The service has just refused a call as one too many. */
  throttled(nowMs: number, retryAfterMs = refillMs): void {
    this.#throttledUntilMs = Math.max(this.#throttledUntilMs, nowMs + Math.max(refillMs, retryAfterMs));
  }

  /** For the provider's status. @param limit the assumed burst of the account */
  toRateLimit(nowMs: number, limit: number): RateLimit {
    const isUsedUp = nowMs < this.#throttledUntilMs;
    return {
      name: this.#name,
      limit,
      remaining: isUsedUp ? 0 : limit,
      ...(isUsedUp ? { resetTime: new Date(this.#throttledUntilMs) } : {}),
    };
  }
}
