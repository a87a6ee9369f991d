import type { Clock } from "../../util/clock.ts";
import type { Rate } from "../model/call-rate.ts";

/** Longest pause; a longer request of a provider is cut to this. */
const MAX_HOLD_MS = 600_000;
/** Longest time for which the cost of one response can stop calls. */
const MAX_DEBT_MS = 600_000;
/** Shortest pause: concurrent throttled calls count once. */
const MIN_HOLD_MS = 100;

/** Rate after a pause if none is known, and the lowest rate after repeated pauses; calls per second. */
const FIRST_PER_SECOND = 1;
const LEAST_PER_SECOND = 0.1;
/** The rate doubles in this time while it recovers. */
const DOUBLING_MS = 5000;
/** Calls during one doubling from one per second. */
const DOUBLING_AREA = DOUBLING_MS / 1000 / Math.LN2;
/** Without a known rate: a rate that counts as unlimited. */
const UNLIMITED_PER_SECOND = 1000;

/** A recovering rate: it doubles from `fromMs` on. */
interface Regaining {
  readonly perSecond: number;
  readonly fromMs: number;
}

/**
 * A token bucket of cloud requests. After a pause it restarts with one call at half the rate and recovers from there: all queued calls at
 * once would be throttled again.
 */
export class CallPace {
  readonly #clock: Clock;
  #rate: Rate | undefined;
  #tokens: number;
  #filledAtMs: number;
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  /** undefined: the full rate. */
  #regaining: Regaining | undefined;

  constructor(rate: Rate | undefined, clock: Clock) {
    this.#clock = clock;
    this.#rate = rate;
    this.#tokens = rate?.burst ?? Number.POSITIVE_INFINITY;
    this.#filledAtMs = clock.monotonicMs();
  }

  /** Calls per second now; Infinity: no known limit. */
  get perSecond(): number {
    return this.#perSecondAt(this.#clock.monotonicMs());
  }

  get burst(): number {
    return this.#regaining === undefined ? (this.#rate?.burst ?? Number.POSITIVE_INFINITY) : 1;
  }

  /** Requests that may be sent now; below 0 when responses cost more. */
  get tokens(): number {
    this.#fill();
    return this.#tokens;
  }

  /** End of the last pause (monotonic clock); -Infinity: none. */
  get heldUntilMs(): number {
    return this.#heldUntilMs;
  }

  get heldMs(): number {
    return Math.max(0, this.#heldUntilMs - this.#clock.monotonicMs());
  }

  setRate(rate: Rate | undefined): void {
    this.#fill();
    this.#rate = rate;
    this.#tokens = this.burst === Number.POSITIVE_INFINITY ? this.burst : this.#within(this.#tokens);
  }

  /** Wait of a call after `ahead` others. */
  waitMs(ahead = 0): number {
    this.#fill();
    const missing = ahead + 1 - this.#tokens;
    return missing <= 0 ? this.heldMs : this.#timeOf(missing) - this.#clock.monotonicMs();
  }

  /** A call is sent or has cost more; negative: it was not sent. */
  spend(tokens: number): void {
    this.#fill();
    this.#tokens = this.#within(this.#tokens - tokens);
  }

  /** The cloud throttles. A shorter pause never ends a longer one. */
  hold(holdMs: number): void {
    // First: a recovered rate must not be halved again.
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

  /** Debt is paid off at the rate; without a known rate there is none. */
  get #leastTokens(): number {
    return this.#rate === undefined ? 0 : -this.#rate.cloudCallsPerSecond * (MAX_DEBT_MS / 1000);
  }

  #within(tokens: number): number {
    return Math.min(this.burst, Math.max(this.#leastTokens, tokens));
  }

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

  /** Tokens gained between two times outside of pauses. */
  #gained(fromMs: number, toMs: number): number {
    const { cloudCallsPerSecond = Number.POSITIVE_INFINITY } = this.#rate ?? {};
    if (this.#regaining === undefined) return ((toMs - fromMs) / 1000) * cloudCallsPerSecond;
    const { perSecond, fromMs: startMs } = this.#regaining;
    const wholeMs = this.#regainedAtMs(this.#regaining);
    const [from, to] = [Math.min(fromMs, wholeMs), Math.min(toMs, wholeMs)];
    const growing = perSecond * DOUBLING_AREA * (doubled(to - startMs) - doubled(from - startMs));
    return growing + (Math.max(0, toMs - Math.max(fromMs, wholeMs)) / 1000) * this.#limit;
  }

  /** Time when that many more tokens are available. */
  #timeOf(tokens: number): number {
    const fromMs = Math.max(this.#filledAtMs, this.#heldUntilMs);
    if (this.#regaining === undefined) return fromMs + (tokens / this.#limit) * 1000;
    const { perSecond, fromMs: startMs } = this.#regaining;
    const wholeMs = this.#regainedAtMs(this.#regaining);
    const atMs = startMs + DOUBLING_MS * Math.log2(doubled(fromMs - startMs) + tokens / (perSecond * DOUBLING_AREA));
    if (atMs <= wholeMs) return atMs;
    // Unlimited from then on.
    if (this.#rate === undefined) return wholeMs;
    return Math.max(fromMs, wholeMs) + ((tokens - this.#gained(fromMs, wholeMs)) / this.#limit) * 1000;
  }

  /** Time when the rate has recovered. */
  #regainedAtMs({ perSecond, fromMs }: Regaining): number {
    return fromMs + Math.max(0, DOUBLING_MS * Math.log2(this.#limit / perSecond));
  }
}

/** Growth factor; 1 at the start. */
function doubled(forMs: number): number {
  return 2 ** (Math.max(0, forMs) / DOUBLING_MS);
}
