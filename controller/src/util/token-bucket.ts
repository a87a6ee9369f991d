import { sleep } from "./abort.ts";
import type { Clock } from "./clock.ts";

export interface TokenBucketOptions {
  /** Tokens that come back a second. */
  readonly perSecond: number;
  /** Tokens that can be saved up; the bucket starts full. */
  readonly burst: number;
}

/** Lets `burst` through at once and `perSecond` after that, in the order of asking. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #clock: Clock;
  #tokens: number;
  #atMs: number;

  constructor({ perSecond, burst }: TokenBucketOptions, clock: Clock) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#clock = clock;
    this.#tokens = burst;
    this.#atMs = clock.monotonicMs();
  }

  /** Takes a token if there is one. */
  tryTake(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  /** Takes a token, going into debt if there is none, and answers how long to wait before using it. */
  reserveMs(): number {
    this.#refill();
    this.#tokens--;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }

  /** Takes a token and waits until it may be used; answers the wait. An abort does not give the token back. */
  async take(signal: AbortSignal): Promise<number> {
    const waitMs = this.reserveMs();
    if (waitMs > 0) await sleep(waitMs, signal, this.#clock);
    return waitMs;
  }

  #refill(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#atMs) * this.#perMs);
    this.#atMs = nowMs;
  }
}
