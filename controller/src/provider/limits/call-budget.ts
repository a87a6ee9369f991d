import type { QuotaClass } from "../model/quota-classes.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Clock } from "../../util/clock.ts";
import type { BudgetMetrics } from "./metrics.ts";
import { CallLine } from "./call-line.ts";
import type { BudgetSnapshot, RateGroup } from "../model/call-rate.ts";
import type { Priority } from "../../util/priority-line.ts";
import { DEFAULT_HOLD_MS } from "../model/retry-delay.ts";

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
        metrics.turnedAway(quotaClass, priority);
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
    if (line.pace.heldMs === 0) this.#deps.metrics.held(quotaClass);
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
    log.info("Calls to the provider wait for the sake of its cloud", {
      class: quotaClass,
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
