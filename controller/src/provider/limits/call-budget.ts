import type { Logger } from "../../telemetry/log.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { type Priority, WaitQueue } from "../../util/semaphore.ts";
import type { BudgetSnapshot, QuotaClass, Rate, RateGroup } from "../model/call-rate.ts";
import { DEFAULT_HOLD_MS, type ProviderError, contractError } from "../model/errors.ts";
import { CallPace } from "./call-pace.ts";
import type { BudgetMetrics } from "./metrics.ts";

/** Decides when a call may be made, so that one throttled loop holds back all of its kind. */
export interface CallBudget {
  /** Resolves when a call of that class may be made; rejects with a WAIT error that says when to come back, or with the signal's reason. */
  acquire(priority: Priority, quotaClass: QuotaClass, signal: AbortSignal): Promise<void>;
  /** What a call that was acquired has cost the cloud, in requests; 0: it was not sent. To be said once of each. */
  settle(quotaClass: QuotaClass, cloudCalls: number): void;
  /** The cloud throttles: no call of the class for that long. A shorter hold never ends a longer one. */
  hold(quotaClass: QuotaClass, holdMs: number | undefined): void;
  /** True: a hold has begun after that time, by the monotonic clock. Calls acquired before it are void, and need not be settled. */
  isHeldSince(quotaClass: QuotaClass, sinceMs: number): boolean;
}

export interface CallBudgetDependencies {
  /** Operator's name of the provider. */
  readonly provider: string;
  readonly clock: Clock;
  readonly metrics: BudgetMetrics;
  readonly log: Logger;
}

/** Between two lines of the log about calls of one class that have to wait. */
const TELL_MS = 60_000;

/** The budgets of one provider: each quota class draws on one, some share one. */
export class GroupedCallBudget implements CallBudget {
  readonly #deps: CallBudgetDependencies;
  #lines: readonly CallLine[] = [];
  /** When it was last told that calls of the class have to wait. */
  readonly #toldAtMs = new Map<QuotaClass, number>();

  constructor(groups: readonly RateGroup[], dependencies: CallBudgetDependencies) {
    this.#deps = dependencies;
    this.setRates(groups);
  }

  async acquire(priority: Priority, quotaClass: QuotaClass, signal: AbortSignal): Promise<void> {
    const { clock, metrics } = this.#deps;
    const startMs = clock.monotonicMs();
    try {
      await this.#lineOf(quotaClass).enter(priority, quotaClass, signal);
      metrics.waited(quotaClass, priority, clock.monotonicMs() - startMs);
    } catch (error) {
      if (!signal.aborted) {
        metrics.rejected(quotaClass, priority);
        this.#tell(quotaClass);
      }
      throw error;
    }
  }

  settle(quotaClass: QuotaClass, cloudCalls: number): void {
    this.#lineOf(quotaClass).spend(cloudCalls - 1);
  }

  hold(quotaClass: QuotaClass, holdMs = DEFAULT_HOLD_MS): void {
    const line = this.#lineOf(quotaClass);
    if (line.pace.heldMs === 0) this.#deps.metrics.throttled(quotaClass);
    line.hold(holdMs);
    this.#tell(quotaClass);
  }

  isHeldSince(quotaClass: QuotaClass, sinceMs: number): boolean {
    return this.#lineOf(quotaClass).pace.heldUntilMs > sinceMs;
  }

  /** All classes must be in one group each. Where a group stays as it was, its budget goes on; those in line keep their places. */
  setRates(groups: readonly RateGroup[]): void {
    const before = this.#lines;
    this.#lines = groups.map(({ classes, rate }) => {
      const same = before.find((line) => line.classes.join() === classes.join());
      same?.setRate(rate);
      return same ?? new CallLine(this.#deps.provider, classes, rate, this.#deps.clock);
    });
    for (const line of before) {
      if (!this.#lines.includes(line)) line.moveTo((quotaClass) => this.#lineOf(quotaClass));
    }
  }

  snapshot(): readonly BudgetSnapshot[] {
    return this.#lines.map((line) => line.snapshot());
  }

  /** Once for all whom it concerns, and now and then while it lasts. */
  #tell(quotaClass: QuotaClass): void {
    const { log, clock } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (nowMs - (this.#toldAtMs.get(quotaClass) ?? Number.NEGATIVE_INFINITY) < TELL_MS) return;
    this.#toldAtMs.set(quotaClass, nowMs);
    const { heldMs, cloudCallsPerSecond, waiting } = this.#lineOf(quotaClass).snapshot();
    log.info("Calls to provider are queued by the call budget", {
      quotaClass,
      heldMs,
      cloudCallsPerSecond,
      waiting,
    });
  }

  #lineOf(quotaClass: QuotaClass): CallLine {
    const line = this.#lines.find(({ classes }) => classes.includes(quotaClass));
    if (line === undefined) throw new Error(`no budget for calls of class ${quotaClass}`);
    return line;
  }
}

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
  readonly #line = new WaitQueue<Waiter>();
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
    return contractError("RATE_LIMITED", message, { retryAfterMs: waitMs, isClientThrottled: true });
  }
}
