import { orAborted } from "./or-aborted.ts";

/** One piece of work that several callers wait for. It is aborted only when all of them have given up. */
export class SharedTask<Result> {
  readonly #controller = new AbortController();
  readonly #outcome: Promise<Result>;
  #waiting = 0;

  constructor(start: (signal: AbortSignal) => Promise<Result>) {
    this.#outcome = start(this.#controller.signal);
    // Every caller may be gone by the time it fails.
    this.#outcome.catch(() => undefined);
  }

  /** Settles with the work, whoever waits. */
  get settled(): Promise<void> {
    return this.#outcome.then(
      () => undefined,
      () => undefined,
    );
  }

  /** True: nobody waits any more, and the work was told so. */
  get abandoned(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Waits for the outcome, or until the signal is aborted. */
  async join(signal: AbortSignal): Promise<Result> {
    this.#waiting += 1;
    try {
      return await orAborted(this.#outcome, signal);
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0 && signal.aborted) this.#controller.abort(signal.reason);
    }
  }
}
