import type { Gauge } from "prom-client";
import type { BudgetSnapshot, QuotaClass } from "../model/call-rate.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Priority } from "../../util/semaphore.ts";

/** What the call budgets of one provider report. */
export interface BudgetMetrics {
  waited(quotaClass: QuotaClass, priority: Priority, waitMs: number): void;
  turnedAway(quotaClass: QuotaClass, priority: Priority): void;
  held(quotaClass: QuotaClass): void;
  /** Asked at each scrape, with the wall clock's time. */
  watch(snapshot: () => readonly BudgetSnapshot[], nowMs: () => number): void;
}

type Watched = BudgetSnapshot & { readonly heldUntilMs: number };

/** Makes the families; the result is called once a provider. */
export function budgetMetrics(metrics: Metrics): (provider: string) => BudgetMetrics {
  const waitSeconds = metrics.histogram({
    name: "cloudwire_provider_call_wait_seconds",
    help: "Time that calls to a provider waited for the budget of their quota class before they were sent.",
    labels: ["provider", "class", "priority"],
    buckets: [0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30],
  });
  const turnedAwayTotal = metrics.counter({
    name: "cloudwire_provider_calls_rejected_total",
    help: "Calls that were not sent because the budget of their quota class would have made them wait too long; they come back.",
    labels: ["provider", "class", "priority"],
  });
  const holdsTotal = metrics.counter({
    name: "cloudwire_provider_throttle_pauses_total",
    help: "Times that the calls of a quota class were put on hold because the cloud throttled.",
    labels: ["provider", "class"],
  });
  const watched = new Map<string, () => readonly Watched[]>();
  makeGauges(metrics, watched);
  return (provider) => ({
    waited: (quotaClass, priority, waitMs) =>
      waitSeconds.observe({ provider, class: quotaClass, priority }, waitMs / 1000),
    turnedAway: (quotaClass, priority) => turnedAwayTotal.inc({ provider, class: quotaClass, priority }),
    held: (quotaClass) => holdsTotal.inc({ provider, class: quotaClass }),
    watch: (snapshot, nowMs) =>
      void watched.set(provider, () =>
        snapshot().map((budget) => ({ ...budget, heldUntilMs: budget.heldMs === 0 ? 0 : nowMs() + budget.heldMs })),
      ),
  });
}

function makeGauges(metrics: Metrics, watched: ReadonlyMap<string, () => readonly Watched[]>): void {
  const labels = ["provider", "class"] as const;
  const collectOf = (valueOf: (budget: Watched) => number | undefined) => (gauge: Gauge<"provider" | "class">) => {
    gauge.reset();
    for (const [provider, budgets] of watched) {
      for (const budget of budgets()) {
        const value = valueOf(budget);
        if (value !== undefined) for (const one of budget.classes) gauge.set({ provider, class: one }, value);
      }
    }
  };
  metrics.gauge({
    name: "cloudwire_provider_call_budget_tokens",
    help: "Requests to the cloud that calls of a quota class may make now; below 0 when answers cost more than was there. Without a limit: no series. Classes that share a budget show the same.",
    labels,
    collect: collectOf(({ tokens }) => tokens),
  });
  metrics.gauge({
    name: "cloudwire_provider_call_budget_burst",
    help: "Most requests to the cloud that calls of a quota class may make at once. Without a limit: no series.",
    labels,
    collect: collectOf(({ burst }) => burst),
  });
  metrics.gauge({
    name: "cloudwire_provider_call_budget_cloud_calls_per_second",
    help: "Requests to the cloud that calls of a quota class may make in a second at present: less than declared after a hold. Without a limit: no series.",
    labels,
    collect: collectOf(({ cloudCallsPerSecond }) => cloudCallsPerSecond),
  });
  metrics.gauge({
    name: "cloudwire_provider_throttled_until_timestamp_seconds",
    help: "Until when calls of a quota class are on hold because the cloud throttles, in seconds since 1970; 0: they are not.",
    labels,
    collect: collectOf(({ heldUntilMs }) => heldUntilMs / 1000),
  });
}
