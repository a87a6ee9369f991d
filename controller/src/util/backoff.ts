import type { Random } from "./clock.ts";

/** Delays that grow by `factor` from `initialMs` to `maxMs`. */
export interface BackoffOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** @default 2 */
  readonly factor?: number;
  /** Share of the delay that is random: 0.5 gives [delay, 1.5 * delay). @default 0 */
  readonly jitter?: number;
}

/** Delay before attempt `failures + 1`; `failures` counts from 1. */
export function backoffMs(options: BackoffOptions, failures: number, random: Random): number {
  const { initialMs, maxMs, factor = 2, jitter = 0 } = options;
  const delayMs = Math.min(maxMs, initialMs * factor ** Math.max(0, failures - 1));
  return delayMs * (1 + jitter * random());
}

/** Counts consecutive failures and computes the delay after each. */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: Random;
  #failures = 0;

  constructor(options: BackoffOptions, random: Random) {
    this.#options = options;
    this.#random = random;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Counts a failure; returns the delay before the next attempt. */
  nextMs(): number {
    this.#failures++;
    return backoffMs(this.#options, this.#failures, this.#random);
  }

  reset(): void {
    this.#failures = 0;
  }
}
