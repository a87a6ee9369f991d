import type { Gauge } from "prom-client";
import type { Clock } from "../../util/clock.ts";

/** A Node may wait this long for its owner in silence: a provider that is rolled out later, or a controller of another kind. */
export const UNOWNED_IS_NEWS_AFTER_MS = 300_000;

/** Nodes that wait for a cloud controller and are no provider's, with how long. */
export class UnownedNodes {
  readonly #gauge: Gauge;
  readonly #clock: Clock;
  readonly #sinceMs = new Map<string, number>();
  readonly #told = new Set<string>();

  constructor(gauge: Gauge, clock: Clock) {
    this.#gauge = gauge;
    this.#clock = clock;
    gauge.set(0);
  }

  /** How long to wait until the Node is news; 0, once: now. undefined: it has been told. */
  add(key: string): number | undefined {
    const nowMs = this.#clock.monotonicMs();
    const sinceMs = this.#sinceMs.get(key) ?? nowMs;
    this.#sinceMs.set(key, sinceMs);
    this.#gauge.set(this.#sinceMs.size);
    if (this.#told.has(key)) return undefined;
    const waitMs = Math.max(0, sinceMs + UNOWNED_IS_NEWS_AFTER_MS - nowMs);
    if (waitMs === 0) this.#told.add(key);
    return waitMs;
  }

  /** The Node is owned, needs nobody any more, or is gone. */
  forget(key: string): void {
    this.#told.delete(key);
    if (this.#sinceMs.delete(key)) this.#gauge.set(this.#sinceMs.size);
  }
}
