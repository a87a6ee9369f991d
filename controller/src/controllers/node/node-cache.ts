import type { Clock } from "../../util/clock.ts";

/** As old as the contract lets an answer be that nobody asked to be fresher. */
const MAX_DATA_AGE_MS = 30_000;

export interface RefreshSettings {
  /** From one tick to the next; may change, and then every Node is due. */
  readonly refreshPeriodMs: number;
}

/**
 * When each Node's facts are read again: at the ticks of one clock, the same for all, so that the questions of a tick leave as few
 * large batches. The first tick is the start, as upstream, which reads every Node once when it begins.
 */
export class RefreshSchedule {
  readonly #clock: Clock;
  readonly #settings: RefreshSettings;
  readonly #startMs: number;
  /** Number of the tick in which a Node was last read. */
  readonly #read = new Map<string, number>();

  constructor(settings: RefreshSettings, clock: Clock) {
    this.#clock = clock;
    this.#settings = settings;
    this.#startMs = clock.monotonicMs();
  }

  /** How old an answer may be: shared with whoever else asks about the machine, but never with the tick before. */
  get maxDataAgeMs(): number {
    return Math.min(MAX_DATA_AGE_MS, this.#settings.refreshPeriodMs / 2);
  }

  /** Not read yet in this tick. */
  isDue(key: string): boolean {
    return this.#read.get(key) !== this.#tick();
  }

  /** The cloud said what it knows. */
  done(key: string): void {
    this.#read.set(key, this.#tick());
  }

  /** The Node is gone. */
  forget(key: string): void {
    this.#read.delete(key);
  }

  untilNextMs(): number {
    const { refreshPeriodMs } = this.#settings;
    return refreshPeriodMs - (this.#sinceStartMs() % refreshPeriodMs);
  }

  #tick(): number {
    return Math.floor(this.#sinceStartMs() / this.#settings.refreshPeriodMs);
  }

  #sinceStartMs(): number {
    return this.#clock.monotonicMs() - this.#startMs;
  }
}
