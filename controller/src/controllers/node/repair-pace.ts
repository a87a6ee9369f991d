import type { Clock } from "../../util/clock.ts";

/** Somebody who writes other values again and again is answered no faster: each has the last word only for a while, and nobody spins. */
const REPAIR_PERIOD_MS = 30_000;

/** When each Node's labels were last put right. */
export class RepairPace {
  readonly #clock: Clock;
  readonly #repairedAtMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long to wait before the Node's labels may be put right again; 0: not at all. */
  waitMs(key: string): number {
    const lastMs = this.#repairedAtMs.get(key);
    return lastMs === undefined ? 0 : Math.max(0, lastMs + REPAIR_PERIOD_MS - this.#clock.monotonicMs());
  }

  done(key: string): void {
    this.#repairedAtMs.set(key, this.#clock.monotonicMs());
  }

  /** The Node is gone. */
  forget(key: string): void {
    this.#repairedAtMs.delete(key);
  }
}
