import type { Clock } from "../../util/clock.ts";

/**
 * When each Node's facts are read again: at the ticks of one clock, the same for all, so that the questions of a tick leave as few
 * large batches. The first tick is the start, as upstream, which reads every Node once when it begins.
 */
export class RefreshSchedule {
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #startMs: number;
  /** Number of the tick in which a Node was last read. */
  readonly #read = new Map<string, number>();

  constructor(periodMs: number, clock: Clock) {
    this.#clock = clock;
    this.#periodMs = periodMs;
    this.#startMs = clock.monotonicMs();
  }

  /** True for the first caller of each tick that asks for `key`, who then reads it. */
  take(key: string): boolean {
    const tick = Math.floor(this.#sinceStartMs() / this.#periodMs);
    if (this.#read.get(key) === tick) return false;
    this.#read.set(key, tick);
    return true;
  }

  /** The Node is gone. */
  forget(key: string): void {
    this.#read.delete(key);
  }

  untilNextMs(): number {
    return this.#periodMs - (this.#sinceStartMs() % this.#periodMs);
  }

  #sinceStartMs(): number {
    return this.#clock.monotonicMs() - this.#startMs;
  }
}
