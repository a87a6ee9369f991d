import type { Clock } from "../../util/clock.ts";
import { type Drift, driftVerdict, isOver, type Repairs } from "./plan/drift.ts";
import type { WantedInput } from "./plan/input.ts";

export interface DriftPace {
  /** From one look at all load balancers to the next; 0: there is none. May change. */
  readonly periodMs: number;
}

/** Told of a key that is to be looked at after so long. */
export type SuspectListener = (key: string, delayMs: number) => void;

/** Which load balancers a sweep found otherwise than acknowledged, and how often each was made as wished again. */
export class DriftWatch {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #pace: DriftPace;
  readonly #suspects = new Set<string>();
  readonly #repairs = new Map<string, Repairs>();
  readonly #resting = new Map<string, Drift>();
  readonly #listeners = new Set<SuspectListener>();

  constructor(clock: Pick<Clock, "monotonicMs">, pace: DriftPace) {
    this.#clock = clock;
    this.#pace = pace;
  }

  /** Answers how to end it. */
  listen(listener: SuspectListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  suspect(key: string, delayMs: number): void {
    this.#suspects.add(key);
    this.wake(key, delayMs);
  }

  /** Makes the Service be looked at. */
  wake(key: string, delayMs: number): void {
    for (const listener of this.#listeners) listener(key, delayMs);
  }

  /** What is to be done if a read agrees; undefined: there is no reason to look. */
  suspicion(key: string): WantedInput["suspicion"] {
    if (!this.#suspects.has(key)) return undefined;
    const verdict = (kind: Drift["kind"]) =>
      driftVerdict(kind, this.#repairs.get(key), this.#clock.monotonicMs(), this.#pace.periodMs);
    return { vanished: verdict("vanished"), changed: verdict("changed") };
  }

  /** It was looked at, and is left as it is: until a later sweep, or for long. */
  left(key: string, drift: Drift, verdict: "later" | "rest"): void {
    this.#suspects.delete(key);
    if (verdict === "rest") this.#resting.set(key, drift);
  }

  /** It is as acknowledged. */
  steady(key: string): void {
    this.#suspects.delete(key);
    this.#resting.delete(key);
    const repairs = this.#repairs.get(key);
    if (repairs !== undefined && isOver(repairs, this.#clock.monotonicMs(), this.#pace.periodMs))
      this.#repairs.delete(key);
  }

  /** It was made as wished again. */
  repaired(key: string): void {
    this.#suspects.delete(key);
    this.#resting.delete(key);
    const count = (this.#repairs.get(key)?.count ?? 0) + 1;
    this.#repairs.set(key, { count, lastMs: this.#clock.monotonicMs() });
  }

  /** What is left as it is for long, for it comes back each time; undefined: nothing. */
  resting(key: string): Drift | undefined {
    return this.#resting.get(key);
  }

  /** Another wish, or none: what was before says nothing of it. */
  forget(key: string): void {
    this.#suspects.delete(key);
    this.#resting.delete(key);
    this.#repairs.delete(key);
  }
}
