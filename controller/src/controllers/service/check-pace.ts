import type { Clock, Random } from "../../util/clock.ts";
import type { DriftPace } from "./gather/owner.ts";

/** Between two checks of load balancers. */
const INTERVAL_MS = 250;

/** While sweeps are off. */
const MAX_DELAY_MS = 600_000;

/** Spreads checks over time: one every {@link INTERVAL_MS}, but each within a period. */
export class CheckPace {
  readonly #deps: { readonly clock: Pick<Clock, "monotonicMs">; readonly random: Random; readonly pace: DriftPace };
  #nextMs = Number.NEGATIVE_INFINITY;

  constructor(dependencies: {
    readonly clock: Pick<Clock, "monotonicMs">;
    readonly random: Random;
    readonly pace: DriftPace;
  }) {
    this.#deps = dependencies;
  }

  /** Until the next check. */
  delayMs(): number {
    const { clock, random, pace } = this.#deps;
    const nowMs = clock.monotonicMs();
    const maxMs = pace.periodMs === 0 ? MAX_DELAY_MS : pace.periodMs;
    const nextMs = Math.max(this.#nextMs, nowMs) + INTERVAL_MS;
    if (nextMs - nowMs > maxMs) return random() * maxMs;
    this.#nextMs = nextMs;
    return nextMs - nowMs;
  }
}
