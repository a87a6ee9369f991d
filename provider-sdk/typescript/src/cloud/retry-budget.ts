/** Repetitions that may be made at once after a quiet time. */
const maxTokens = 10;

/** What each request that is no repetition adds: one repetition for ten requests. */
const tokensPerRequest = 0.1;

/**
 * How many requests to the cloud may be repeated, over all calls of the provider. While a cloud is down, every request fails: repeating
 * each of them three times would make its load fourfold at the worst moment. So repetitions are a tenth of the requests in the long run.
 */
export class RetryBudget {
  #tokens = maxTokens;

  /** A request is made that repeats none. */
  earn(): void {
    this.#tokens = Math.min(maxTokens, this.#tokens + tokensPerRequest);
  }

  /** True: one repetition may be made, and is taken off. */
  spend(): boolean {
    // Tenths do not add up exactly.
    if (this.#tokens < 1 - 1e-9) return false;
    this.#tokens -= 1;
    return true;
  }
}
