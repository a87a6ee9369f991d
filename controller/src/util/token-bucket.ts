import { sleep } from "./abort.ts";
import type { Clock } from "./clock.ts";

export interface TokenBucketOptions {
  /** Refill rate. */
  readonly perSecond: number;
  /** Capacity; the bucket starts full. */
  readonly burst: number;
}

/** Admits `burst` immediately and then `perSecond`, first come, first served. */
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

  /** Takes a token, going negative if there is none; returns how long to wait before using it. */
  reserveMs(): number {
    this.#refill();
    this.#tokens--;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }

  /** Takes a token and waits until it may be used; returns the wait. An abort does not return the token. */
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
