import type { Clock, Timer } from "../../util/clock.ts";
import type { InstanceAnswer } from "../model/instance.ts";

/**
 * Answers are dropped this long after they came, whoever might still want them: at 15,000 Nodes they are tens of megabytes. Who shares one,
 * asks within moments: both controllers of Nodes that wake for the same reason, a Node that is tried again.
 */
const RETENTION_MS = 10_000;

interface Kept {
  readonly answer: InstanceAnswer;
  /** When the cloud was read. */
  readonly readAtMs: number;
  readonly keptAtMs: number;
}

/** Answers that say something about a machine, for as long as they are fresh enough for whoever asks. */
export class AnswerCache {
  readonly #clock: Clock;
  /** In the order in which they came. */
  readonly #kept = new Map<string, Kept>();
  #sweeping: Timer | undefined;

  /** @param signal ends the timer */
  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    signal.addEventListener("abort", () => this.#sweeping?.cancel(), { once: true });
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
    const ageMs = dataAgeMs(answer);
    if (ageMs === undefined) return;
    const nowMs = this.#clock.monotonicMs();
    const readAtMs = nowMs - ageMs;
    const before = this.#kept.get(key);
    if (before !== undefined && before.readAtMs > readAtMs) return;
    this.#kept.delete(key);
    this.#kept.set(key, { answer, readAtMs, keptAtMs: nowMs });
    this.#sweeping ??= this.#clock.schedule(RETENTION_MS, () => this.#sweep());
  }

  #sweep(): void {
    this.#sweeping = undefined;
    const nowMs = this.#clock.monotonicMs();
    for (const [key, { keptAtMs }] of this.#kept) {
      const leftMs = keptAtMs + RETENTION_MS - nowMs;
      if (leftMs > 0) {
        // At least a while: those of a burst go together.
        this.#sweeping = this.#clock.schedule(Math.max(leftMs, RETENTION_MS / 10), () => this.#sweep());
        return;
      }
      this.#kept.delete(key);
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
