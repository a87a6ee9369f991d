import type { Clock } from "../util/clock.ts";
import type { Rate } from "./call-rate.ts";

/** Longest hold believed: a provider that asks for more is asked again by then. */
const MAX_HOLD_MS = 600_000;
/** Shortest: those who are told to wait at the same moment are one occasion. */
const MIN_HOLD_MS = 100;

/** Speed after a hold where no rate is known, and the slowest that repeated holds lead to; calls a second. */
const FIRST_PER_SECOND = 1;
const LEAST_PER_SECOND = 0.1;
/** A speed regained doubles in this time. */
const DOUBLING_MS = 5000;
/** Where no rate is known: speed that counts as none. */
const UNLIMITED_PER_SECOND = 1000;

/**
 * When calls may go: a token bucket whose tokens are requests to the cloud. After a hold it starts again with one call and half the
 * speed it had, and grows back from there: those who waited would make the cloud throttle again at once if all went together.
 */
export class CallPace {
  readonly #clock: Clock;
  #rate: Rate | undefined;
  #tokens: number;
  #filledAtMs: number;
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  /** Speed regained since `fromMs`; undefined: the whole rate is. */
  #regaining: { readonly perSecond: number; readonly fromMs: number } | undefined;

  constructor(rate: Rate | undefined, clock: Clock) {
    this.#clock = clock;
    this.#rate = rate;
    this.#tokens = rate?.burst ?? Number.POSITIVE_INFINITY;
    this.#filledAtMs = clock.monotonicMs();
  }

  /** Calls a second now; Infinity: no limit known. */
  get perSecond(): number {
    return this.#perSecondAt(this.#clock.monotonicMs());
  }

  get burst(): number {
    return this.#regaining === undefined ? (this.#rate?.burst ?? Number.POSITIVE_INFINITY) : 1;
  }

  /** Requests that may be made now; below 0 when answers cost more than was there. */
  get tokens(): number {
    this.#fill();
    return this.#tokens;
  }

  /** End of the last hold, by the monotonic clock; -Infinity: there was none. */
  get heldUntilMs(): number {
    return this.#heldUntilMs;
  }

  /** How much longer nothing may go. */
  get heldMs(): number {
    return Math.max(0, this.#heldUntilMs - this.#clock.monotonicMs());
  }

  setRate(rate: Rate | undefined): void {
    this.#fill();
    this.#rate = rate;
    this.#tokens = this.burst === Number.POSITIVE_INFINITY ? this.burst : Math.min(this.#tokens, this.burst);
  }

  /** How long a call waits before which `ahead` others go. */
  waitMs(ahead = 0): number {
    this.#fill();
    const missing = Math.max(0, ahead + 1 - this.#tokens);
    // With no limit there are always tokens: 0 / Infinity.
    return this.heldMs + (missing / this.perSecond) * 1000;
  }

  /** A call is sent, or has cost so much more than it was counted for; negative: it was not sent after all. */
  spend(tokens: number): void {
    this.#fill();
    this.#tokens = Math.min(this.burst, this.#tokens - tokens);
  }

  /** The cloud throttles. A shorter hold never ends a longer one. */
  hold(holdMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    const untilMs = nowMs + Math.min(MAX_HOLD_MS, Math.max(MIN_HOLD_MS, holdMs));
    const perSecond = this.heldMs > 0 ? this.perSecond : this.#slower();
    this.#heldUntilMs = Math.max(untilMs, this.#heldUntilMs);
    this.#regaining = { perSecond, fromMs: this.#heldUntilMs };
    this.#tokens = 1;
    this.#filledAtMs = this.#heldUntilMs;
  }

  #slower(): number {
    const { perSecond } = this;
    return Math.max(LEAST_PER_SECOND, perSecond === Number.POSITIVE_INFINITY ? FIRST_PER_SECOND : perSecond / 2);
  }

  #perSecondAt(nowMs: number): number {
    const whole = this.#rate?.cloudCallsPerSecond ?? Number.POSITIVE_INFINITY;
    if (this.#regaining === undefined) return whole;
    const { perSecond, fromMs } = this.#regaining;
    return Math.min(whole, perSecond * 2 ** (Math.max(0, nowMs - fromMs) / DOUBLING_MS));
  }

  #fill(): void {
    const nowMs = this.#clock.monotonicMs();
    const elapsedMs = nowMs - this.#filledAtMs;
    if (elapsedMs <= 0) return;
    // By the speed at the beginning of the time: never too fast.
    const gained = (elapsedMs / 1000) * this.#perSecondAt(this.#filledAtMs);
    this.#filledAtMs = nowMs;
    const limit = this.#rate?.cloudCallsPerSecond ?? UNLIMITED_PER_SECOND;
    if (this.#regaining !== undefined && this.#perSecondAt(nowMs) >= limit) this.#regaining = undefined;
    this.#tokens = this.burst === Number.POSITIVE_INFINITY ? this.burst : Math.min(this.burst, this.#tokens + gained);
  }
}
