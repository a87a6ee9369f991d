import { isProviderError } from "../../provider/errors.ts";
import { retryDelayMs } from "../../provider/retry-delay.ts";

/** How often in a row each Node could not be initialised: waits that its provider's errors call for grow with it. */
export class Refusals {
  readonly #failures = new Map<string, number>();

  /** Counts one more and answers how long to wait before the next try; undefined: the queue's own back-off. */
  add(key: string, cause: Error | undefined): number | undefined {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    return isProviderError(cause) ? retryDelayMs(cause, failures) : undefined;
  }

  /** The Node is initialised, somebody else's or gone. */
  forget(key: string): void {
    this.#failures.delete(key);
  }
}
