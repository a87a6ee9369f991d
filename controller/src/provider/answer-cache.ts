import type { Clock } from "../util/clock.ts";
import type { InstanceAnswer } from "./instance.ts";

/** Answers are dropped at this age whoever might still want them: at 15,000 Nodes they are tens of megabytes. */
const RETENTION_MS = 60_000;

interface Kept {
  readonly answer: InstanceAnswer;
  readonly readAtMs: number;
}

/** Answers that say something about a machine, for as long as they are fresh enough for whoever asks. */
export class AnswerCache {
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();
  #sweptAtMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sweptAtMs = clock.monotonicMs();
  }

  get size(): number {
    return this.#kept.size;
  }

  /** An answer from data at most `maxDataAgeMs` old. Never one for 0, which asks for a new look. */
  get(key: string, maxDataAgeMs: number): InstanceAnswer | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined || maxDataAgeMs <= 0) return undefined;
    return this.#clock.monotonicMs() - kept.readAtMs <= maxDataAgeMs ? kept.answer : undefined;
  }

  put(key: string, answer: InstanceAnswer): void {
    this.#sweep();
    const ageMs = dataAgeMs(answer);
    if (ageMs === undefined) return;
    const readAtMs = this.#clock.monotonicMs() - ageMs;
    const before = this.#kept.get(key);
    if (before === undefined || before.readAtMs <= readAtMs) this.#kept.set(key, { answer, readAtMs });
  }

  #sweep(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#sweptAtMs < RETENTION_MS / 2) return;
    this.#sweptAtMs = nowMs;
    for (const [key, { readAtMs }] of this.#kept) {
      if (nowMs - readAtMs > RETENTION_MS) this.#kept.delete(key);
    }
  }
}

/** How old the data of an answer was when it arrived; undefined for an answer that rests on none. */
export function dataAgeMs(answer: InstanceAnswer): number | undefined {
  switch (answer.kind) {
    case "present":
      return Math.max(0, answer.witness.receivedAtMs - answer.readTimeMs);
    case "absent":
      return Math.max(0, answer.witness.receivedAtMs - answer.observeTimeMs);
    case "unknown":
    case "notMine":
      return undefined;
  }
  return answer satisfies never;
}
