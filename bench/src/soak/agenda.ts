import { setTimeout as wait } from "node:timers/promises";

type Act = () => Promise<void>;

export interface AgendaClock {
  readonly nowMs: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const SYSTEM: AgendaClock = {
  nowMs: () => performance.now(),
  wait: (ms, signal) => wait(ms, undefined, { signal }),
};

interface Entry {
  readonly everyMs: number | undefined;
  readonly act: Act;
  dueMs: number;
}

/** Things to do at their times, one after the other: what one needs, no other has in hand. */
export class Agenda {
  readonly #clock: AgendaClock;
  #entries: Entry[] = [];

  constructor(clock: AgendaClock = SYSTEM) {
    this.#clock = clock;
  }

  /** Again and again, first after `everyMs`. */
  every(everyMs: number, act: Act): void {
    this.#entries.push({ everyMs, act, dueMs: this.#clock.nowMs() + everyMs });
  }

  once(afterMs: number, act: Act): void {
    this.#entries.push({ everyMs: undefined, act, dueMs: this.#clock.nowMs() + afterMs });
  }

  /** Does what is due until the time is over, then at once what was still to be done once. */
  async run(durationMs: number, signal: AbortSignal): Promise<void> {
    const endMs = this.#clock.nowMs() + durationMs;
    for (;;) {
      const [next] = this.#entries.toSorted((left, right) => left.dueMs - right.dueMs);
      if (next === undefined || next.dueMs >= endMs) break;
      await this.#clock.wait(Math.max(0, next.dueMs - this.#clock.nowMs()), signal);
      await this.#do(next);
    }
    await this.#clock.wait(Math.max(0, endMs - this.#clock.nowMs()), signal);
    for (const entry of this.#entries.filter(({ everyMs }) => everyMs === undefined)) await this.#do(entry);
  }

  async #do(entry: Entry): Promise<void> {
    if (entry.everyMs === undefined) {
      this.#entries = this.#entries.filter((other) => other !== entry);
    } else {
      // What was held up is not made up for.
      const [nowMs, nextMs] = [this.#clock.nowMs(), entry.dueMs + entry.everyMs];
      entry.dueMs = nextMs > nowMs ? nextMs : nowMs + entry.everyMs;
    }
    await entry.act();
  }
}
