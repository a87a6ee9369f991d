import type { QuotaClass } from "../model/quota-classes.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { type Priority, PriorityLine } from "../../util/priority-line.ts";
import { CallPace } from "./call-pace.ts";
import type { BudgetSnapshot, Rate } from "../model/call-rate.ts";
import { contractError, type ProviderError } from "../model/errors.ts";

/** Longest wait in line that is foreseen. Beyond it the caller is better off doing something else and coming back. */
const MAX_WAIT_MS = 5000;

interface Waiter {
  readonly quotaClass: QuotaClass;
  readonly priority: Priority;
  readonly enter: () => void;
  readonly refuse: (error: ProviderError) => void;
  /** Of the line that it is in now. */
  leave: () => void;
}

/** Those who wait to call one quota class, or several that share a budget: the urgent first, the others not for ever after them. */
export class CallLine {
  readonly #provider: string;
  readonly #clock: Clock;
  readonly classes: readonly QuotaClass[];
  readonly pace: CallPace;
  readonly #line = new PriorityLine<Waiter>();
  #timer: Timer | undefined;

  constructor(provider: string, classes: readonly QuotaClass[], rate: Rate | undefined, clock: Clock) {
    this.#provider = provider;
    this.classes = classes;
    this.#clock = clock;
    this.pace = new CallPace(rate, clock);
  }

  async enter(priority: Priority, quotaClass: QuotaClass, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const waitMs = this.pace.waitMs(this.#line.ahead(priority));
    // One of each priority may wait however slow it goes: its turn comes, where coming back might find others in its place each time.
    const isFirst = this.#line.count(priority) === 0;
    if (waitMs > MAX_WAIT_MS && !(isFirst && this.pace.heldMs <= MAX_WAIT_MS)) throw this.#refusal(quotaClass, waitMs);
    if (waitMs === 0) return this.pace.spend(1);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        waiter.leave();
        reject(signal.reason);
      };
      const settled = (settle: () => void): void => {
        signal.removeEventListener("abort", onAbort);
        settle();
      };
      const waiter: Waiter = {
        quotaClass,
        priority,
        enter: () => settled(resolve),
        refuse: (error) => settled(() => reject(error)),
        leave: () => undefined,
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#add(waiter);
    });
  }

  spend(tokens: number): void {
    this.pace.spend(tokens);
    this.#admit();
  }

  hold(holdMs: number): void {
    this.pace.hold(holdMs);
    if (this.pace.heldMs > MAX_WAIT_MS) this.#sendAway();
    this.#admit();
  }

  setRate(rate: Rate | undefined): void {
    this.pace.setRate(rate);
    this.#admit();
  }

  /** Everyone in line goes over to the lines that serve them now; what is on hold stays so. */
  moveTo(lineOf: (quotaClass: QuotaClass) => CallLine): void {
    this.#timer?.cancel();
    const { heldMs } = this.pace;
    if (heldMs > 0) for (const quotaClass of this.classes) lineOf(quotaClass).hold(heldMs);
    for (let next = this.#line.take(); next !== undefined; next = this.#line.take()) lineOf(next.quotaClass).#add(next);
  }

  snapshot(): BudgetSnapshot {
    const { perSecond, burst, tokens, heldMs } = this.pace;
    const isLimited = perSecond !== Number.POSITIVE_INFINITY;
    return {
      classes: this.classes,
      cloudCallsPerSecond: isLimited ? perSecond : undefined,
      burst: isLimited ? burst : undefined,
      tokens: isLimited ? tokens : undefined,
      heldMs,
      waiting: { high: this.#line.count("high"), low: this.#line.count("low") },
    };
  }

  #add(waiter: Waiter): void {
    // One that comes over from another line may find a long hold here.
    if (this.pace.heldMs > MAX_WAIT_MS) return waiter.refuse(this.#refusal(waiter.quotaClass, this.pace.waitMs()));
    this.#line.add(waiter.priority, waiter);
    waiter.leave = () => {
      this.#line.remove(waiter.priority, waiter);
      this.#admit();
    };
    this.#admit();
  }

  /** Lets in whom there are tokens for, and comes back when there is one for the next. */
  #admit(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    while (this.#line.size > 0) {
      const waitMs = this.pace.waitMs();
      if (waitMs > 0) {
        // Whole milliseconds: timers that fire a moment early would find no token.
        this.#timer = this.#clock.schedule(Math.ceil(waitMs), () => this.#admit());
        return;
      }
      this.pace.spend(1);
      this.#line.take()?.enter();
    }
  }

  #sendAway(): void {
    const waitMs = this.pace.waitMs();
    for (let next = this.#line.take(); next !== undefined; next = this.#line.take())
      next.refuse(this.#refusal(next.quotaClass, waitMs));
  }

  #refusal(quotaClass: QuotaClass, waitMs: number): ProviderError {
    const why = this.pace.heldMs > 0 ? "because the cloud throttles" : "to keep to the rate of its cloud";
    const message = `${this.#provider}: calls for ${quotaClass} are on hold for another ${Math.ceil(waitMs / 1000)} s ${why}`;
    return contractError("RATE_LIMITED", message, { retryAfterMs: waitMs, isTurnedAway: true });
  }
}
