import type { Clock, Timer } from "../../src/util/clock.ts";

interface Pending {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  #nowMs: number;
  readonly #startMs: number;
  #order = 0;
  readonly #pending = new Set<Pending>();

  constructor(startMs = Date.UTC(2026, 10, 21, 12, 0, 0)) {
    this.#nowMs = startMs;
    this.#startMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs - this.#startMs;
  }

  schedule(delayMs: number, run: () => void): Timer {
    const pending = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, run };
    this.#pending.add(pending);
    return { cancel: () => this.#pending.delete(pending) };
  }

  /** Timers not yet fired: a test of clean-up asserts 0. */
  get timers(): number {
    return this.#pending.size;
  }

  /** Milliseconds until the next timer; undefined when there is none. */
  get nextTimerMs(): number | undefined {
    const next = this.#next();
    return next === undefined ? undefined : next.atMs - this.#nowMs;
  }

  /** Moves time on, firing what falls due in order; promises settle between timers, those started by timers too. */
  async advance(byMs: number): Promise<void> {
    const targetMs = this.#nowMs + byMs;
    await settle();
    for (let next = this.#next(); next !== undefined && next.atMs <= targetMs; next = this.#next()) {
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      this.#pending.delete(next);
      next.run();
      await settle();
    }
    this.#nowMs = targetMs;
  }

  #next(): Pending | undefined {
    let first: Pending | undefined;
    for (const pending of this.#pending) {
      if (
        first === undefined ||
        pending.atMs < first.atMs ||
        (pending.atMs === first.atMs && pending.order < first.order)
      ) {
        first = pending;
      }
    }
    return first;
  }
}

/** Lets every promise that can settle without time passing do so. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
