import type { Clock } from "../../util/clock.ts";
import type { Rate } from "../model/call-rate.ts";

/** Longest hold believed: a provider that asks for more is asked again by then. */
const MAX_HOLD_MS = 600_000;
/** Longest time for which one answer that cost more than all before can stop calls. */
const MAX_DEBT_MS = 600_000;
/** Shortest: those who are told to wait at the same moment are one occasion. */
const MIN_HOLD_MS = 100;

/** Speed after a hold where no rate is known, and the slowest that repeated holds lead to; calls a second. */
const FIRST_PER_SECOND = 1;
const LEAST_PER_SECOND = 0.1;
/** A speed regained doubles in this time. */
const DOUBLING_MS = 5000;
/** Calls that come while a speed of one a second doubles. */
const DOUBLING_AREA = DOUBLING_MS / 1000 / Math.LN2;
/** Where no rate is known: speed that counts as none. */
const UNLIMITED_PER_SECOND = 1000;

/** Calls a second at a time, from which they double. */
interface Regaining {
  readonly perSecond: number;
  readonly fromMs: number;
}

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
  #regaining: Regaining | undefined;

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
    this.#tokens = this.burst === Number.POSITIVE_INFINITY ? this.burst : this.#within(this.#tokens);
  }

  /** How long a call waits before which `ahead` others go. */
  waitMs(ahead = 0): number {
    this.#fill();
    const missing = ahead + 1 - this.#tokens;
    return missing <= 0 ? this.heldMs : this.#timeOf(missing) - this.#clock.monotonicMs();
  }

  /** A call is sent, or has cost so much more than it was counted for; negative: it was not sent after all. */
  spend(tokens: number): void {
    this.#fill();
    this.#tokens = this.#within(this.#tokens - tokens);
  }

  /** The cloud throttles. A shorter hold never ends a longer one. */
  hold(holdMs: number): void {
    // First, for a speed that has been regained meanwhile is none to be halved.
    this.#fill();
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

  /** Debt is paid off at the rate. Where none is known there is nothing to pay: only the cloud says what is too much. */
  get #leastTokens(): number {
    return this.#rate === undefined ? 0 : -this.#rate.cloudCallsPerSecond * (MAX_DEBT_MS / 1000);
  }

  #within(tokens: number): number {
    return Math.min(this.burst, Math.max(this.#leastTokens, tokens));
  }

  /** The speed that counts as the whole one. */
  get #limit(): number {
    return this.#rate?.cloudCallsPerSecond ?? UNLIMITED_PER_SECOND;
  }

  #perSecondAt(nowMs: number): number {
    if (this.#regaining === undefined) return this.#rate?.cloudCallsPerSecond ?? Number.POSITIVE_INFINITY;
    const { perSecond, fromMs } = this.#regaining;
    return Math.min(this.#limit, perSecond * doubled(nowMs - fromMs));
  }

  #fill(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs <= this.#filledAtMs) return;
    const gained = this.#gained(this.#filledAtMs, nowMs);
    this.#filledAtMs = nowMs;
    if (this.#regaining !== undefined && nowMs >= this.#regainedAtMs(this.#regaining)) this.#regaining = undefined;
    this.#tokens = this.burst === Number.POSITIVE_INFINITY ? this.burst : Math.min(this.burst, this.#tokens + gained);
  }

  /** Tokens that come between two times, neither of them within a hold. */
  #gained(fromMs: number, toMs: number): number {
    const { cloudCallsPerSecond = Number.POSITIVE_INFINITY } = this.#rate ?? {};
    if (this.#regaining === undefined) return ((toMs - fromMs) / 1000) * cloudCallsPerSecond;
    const { perSecond, fromMs: startMs } = this.#regaining;
    const wholeMs = this.#regainedAtMs(this.#regaining);
    const [from, to] = [Math.min(fromMs, wholeMs), Math.min(toMs, wholeMs)];
    const growing = perSecond * DOUBLING_AREA * (doubled(to - startMs) - doubled(from - startMs));
    return growing + (Math.max(0, toMs - Math.max(fromMs, wholeMs)) / 1000) * this.#limit;
  }

  /** When so many tokens more will have come. */
  #timeOf(tokens: number): number {
    const fromMs = Math.max(this.#filledAtMs, this.#heldUntilMs);
    if (this.#regaining === undefined) return fromMs + (tokens / this.#limit) * 1000;
    const { perSecond, fromMs: startMs } = this.#regaining;
    const wholeMs = this.#regainedAtMs(this.#regaining);
    const atMs = startMs + DOUBLING_MS * Math.log2(doubled(fromMs - startMs) + tokens / (perSecond * DOUBLING_AREA));
    if (atMs <= wholeMs) return atMs;
    // Without a rate there is no limit from then on.
    if (this.#rate === undefined) return wholeMs;
    return Math.max(fromMs, wholeMs) + ((tokens - this.#gained(fromMs, wholeMs)) / this.#limit) * 1000;
  }

  /** When the speed that doubles is the whole one. */
  #regainedAtMs({ perSecond, fromMs }: Regaining): number {
    return fromMs + Math.max(0, DOUBLING_MS * Math.log2(this.#limit / perSecond));
  }
}

/** What has doubled all the while: 1 at the start. */
function doubled(forMs: number): number {
  return 2 ** (Math.max(0, forMs) / DOUBLING_MS);
}
