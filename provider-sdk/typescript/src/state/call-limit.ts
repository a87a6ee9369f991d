import { ProviderError } from "../results/errors.ts";

/** Retry delay of callers beyond the limit. */
const retryAfterMs = 200;

/** Refuses calls beyond the most that may run at once. */
export class CallLimit {
  readonly #max: number;
  #running = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Runs the work if there is room. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#max)
      throw new ProviderError(
        "TOO_MANY_CALLS",
        `${this.#running} calls are under way, which is the most served at once`,
        {
          retryAfterMs,
          metadata: { limit: String(this.#max) },
        },
      );
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
    }
  }
}
