import type { Logger } from "../../telemetry/log.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { type Admission, type Priority, WaitQueue } from "../../util/semaphore.ts";
import type { BudgetSnapshot, QuotaClass, Rate, RateGroup } from "../model/call-rate.ts";
import { DEFAULT_HOLD_MS, type ProviderError, contractError } from "../model/errors.ts";
import { CallPace } from "./call-pace.ts";
import type { BudgetMetrics } from "./metrics.ts";

/** Decides when a call may be sent: one throttled call pauses all of its class. */
export interface CallBudget {
  /** Resolves when a call may be sent; rejects with a WAIT error and its retry delay, or with the signal's reason. */
  acquire(quotaClass: QuotaClass, admission: Admission): Promise<void>;
  /** Cost of an acquired call in cloud requests; 0: not sent. Once per call. */
  settle(quotaClass: QuotaClass, cloudCalls: number): void;
  /** The cloud throttles: pauses the class for that time. A shorter pause never ends a longer one. */
  hold(quotaClass: QuotaClass, holdMs: number | undefined): void;
  /** Whether a pause began after that (monotonic) time. Calls acquired before it are void and need no settlement. */
  isHeldSince(quotaClass: QuotaClass, sinceMs: number): boolean;
}

export interface CallBudgetDependencies {
  readonly provider: string;
  readonly clock: Clock;
  readonly metrics: BudgetMetrics;
  readonly log: Logger;
}

/** Interval of log lines about queued calls of one class. */
const LOG_INTERVAL_MS = 60_000;

/** The budgets of one provider. Several quota classes may share one. */
export class GroupedCallBudget implements CallBudget {
  readonly #deps: CallBudgetDependencies;
  #lines: readonly CallLine[] = [];
  /** Time of the last log line by class. */
  readonly #loggedAtMs = new Map<QuotaClass, number>();

  constructor(groups: readonly RateGroup[], dependencies: CallBudgetDependencies) {
    this.#deps = dependencies;
    this.setRates(groups);
  }

  async acquire(quotaClass: QuotaClass, admission: Admission): Promise<void> {
    const { priority, signal } = admission;
    const { clock, metrics } = this.#deps;
    const startMs = clock.monotonicMs();
    try {
      await this.#lineOf(quotaClass).enter(quotaClass, admission);
      metrics.waited(quotaClass, priority, clock.monotonicMs() - startMs);
    } catch (error) {
      if (!signal.aborted) {
        metrics.rejected(quotaClass, priority);
        this.#log(quotaClass);
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
    this.#log(quotaClass);
  }

  isHeldSince(quotaClass: QuotaClass, sinceMs: number): boolean {
    return this.#lineOf(quotaClass).pace.heldUntilMs > sinceMs;
  }

  /** Each class must be in one group. An unchanged group keeps its budget; queued calls keep their places. */
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

  /** Logs once for all calls, and at intervals while they are queued. */
  #log(quotaClass: QuotaClass): void {
    const { log, clock } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (nowMs - (this.#loggedAtMs.get(quotaClass) ?? Number.NEGATIVE_INFINITY) < LOG_INTERVAL_MS) return;
    this.#loggedAtMs.set(quotaClass, nowMs);
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

/** Longest expected wait in the queue; beyond it, the call is rejected and the caller retries later. */
const MAX_WAIT_MS = 5000;

interface Waiter {
  readonly quotaClass: QuotaClass;
  readonly priority: Priority;
  readonly group: string;
  readonly enter: () => void;
  readonly refuse: (error: ProviderError) => void;
  /** Leaves its current queue. */
  leave: () => void;
}

/** The queue of calls of one budget: high priority first, without starving the others, and the namespaces in turns. */
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

  async enter(quotaClass: QuotaClass, { priority, signal, group = "" }: Admission): Promise<void> {
    signal.throwIfAborted();
    const waitMs = this.pace.waitMs(this.#line.ahead(priority, group));
    // One call of each priority may wait longer: retries might lose their place every time.
    const isFirst = this.#line.count(priority) === 0;
    if (waitMs > MAX_WAIT_MS && !(isFirst && this.pace.heldMs <= MAX_WAIT_MS))
      throw this.#rejection(quotaClass, waitMs);
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
        group,
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
    if (this.pace.heldMs > MAX_WAIT_MS) this.#rejectAll();
    this.#admit();
  }

  setRate(rate: Rate | undefined): void {
    this.pace.setRate(rate);
    this.#admit();
  }

  /** Moves queued calls to the queues of their classes; a pause continues. */
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
    // A moved call may meet a long pause here.
    if (this.pace.heldMs > MAX_WAIT_MS) return waiter.refuse(this.#rejection(waiter.quotaClass, this.pace.waitMs()));
    this.#line.add(waiter.priority, waiter, waiter.group);
    waiter.leave = () => {
      this.#line.remove(waiter.priority, waiter);
      this.#admit();
    };
    this.#admit();
  }

  /** Admits calls while there are tokens, and schedules the next admission. */
  #admit(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    while (this.#line.size > 0) {
      const waitMs = this.pace.waitMs();
      if (waitMs > 0) {
        // Whole milliseconds: a timer that fires early would find no token.
        this.#timer = this.#clock.schedule(Math.ceil(waitMs), () => this.#admit());
        return;
      }
      this.pace.spend(1);
      this.#line.take()?.enter();
    }
  }

  #rejectAll(): void {
    const waitMs = this.pace.waitMs();
    for (let next = this.#line.take(); next !== undefined; next = this.#line.take())
      next.refuse(this.#rejection(next.quotaClass, waitMs));
  }

  #rejection(quotaClass: QuotaClass, waitMs: number): ProviderError {
    const cause = this.pace.heldMs > 0 ? "because the cloud throttles" : "to stay within the cloud's rate limit";
    const message = `${this.#provider}: calls of class ${quotaClass} wait for another ${Math.ceil(waitMs / 1000)} s ${cause}`;
    return contractError("RATE_LIMITED", message, { retryAfterMs: waitMs, isClientThrottled: true });
  }
}
