import { orAborted } from "../util/clock.ts";

/** One piece of work that several callers wait for. It is aborted only when all of them have given up, unless it may outlive them. */
export class SharedTask<Result> {
  readonly #controller = new AbortController();
  readonly #outcome: Promise<Result>;
  #waiting = 0;
  #outlives = false;

  constructor(start: (signal: AbortSignal) => Promise<Result>) {
    this.#outcome = start(this.#controller.signal);
    // Every caller may be gone by the time it fails.
    this.#outcome.catch(() => undefined);
  }

  /** Settles with the work, whether or not a caller waits. */
  get settled(): Promise<void> {
    return this.#outcome.then(
      () => undefined,
      () => undefined,
    );
  }

  /** How it failed, once it has settled; undefined if it did not. */
  get failure(): Promise<{ readonly error: unknown } | undefined> {
    return this.#outcome.then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
  }

  /** From now on the work continues without waiting callers. */
  outlive(): void {
    this.#outlives = true;
  }

  /** Aborts the work. */
  abandon(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** True: the work was aborted. It may still be running. */
  get abandoned(): boolean {
    return this.#controller.signal.aborted;
  }

  /** The signal that {@link abandon} aborts. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits for the outcome, or until the signal is aborted. */
  async join(signal: AbortSignal): Promise<Result> {
    this.#waiting += 1;
    try {
      return await orAborted(this.#outcome, signal);
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0 && signal.aborted && !this.#outlives) this.#controller.abort(signal.reason);
    }
  }
}
