import { orAborted } from "./or-aborted.ts";

/** Lets so many pieces of work run at once; the others wait in order. */
export class Limit {
  readonly #max: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Runs the work when there is room; gives up waiting when the signal is aborted. */
  async run<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#running < this.#max) {
      this.#running += 1;
      return;
    }
    const turn = Promise.withResolvers<void>();
    this.#waiting.push(turn.resolve);
    try {
      await orAborted(turn.promise, signal);
    } catch (error) {
      const index = this.#waiting.indexOf(turn.resolve);
      if (index >= 0) this.#waiting.splice(index, 1);
      // The turn came at the moment of the abort: hand it on.
      else this.#leave();
      throw error;
    }
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}
