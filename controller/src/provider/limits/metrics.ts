import type { Gauge } from "prom-client";
import type { BudgetSnapshot, QuotaClass } from "../model/call-rate.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Priority } from "../../util/semaphore.ts";

export type BudgetMetrics = ReturnType<ReturnType<typeof budgetMetrics>>;

type Watched = BudgetSnapshot & { readonly heldUntilMs: number };

/** Creates the families; the result is called once per provider. */
export function budgetMetrics(metrics: Metrics) {
  const waitSeconds = metrics.histogram({
    name: "cloudwire_provider_call_wait_seconds",
    help: "Time that calls to a provider were queued for the call budget of their quota class before they were sent.",
    labels: ["provider", "quota_class", "priority"],
    buckets: [0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30],
  });
  const rejectedTotal = metrics.counter({
    name: "cloudwire_provider_calls_rejected_total",
    help: "Calls that were not sent because they would have been queued too long for the call budget of their quota class. The controller retries them.",
    labels: ["provider", "quota_class", "priority"],
  });
  const pausesTotal = metrics.counter({
    name: "cloudwire_provider_throttle_pauses_total",
    help: "Times that the controller paused the calls of a quota class because the cloud throttled.",
    labels: ["provider", "quota_class"],
  });
  const watched = new Map<string, () => readonly Watched[]>();
  makeGauges(metrics, watched);
  return (provider: string) => ({
    waited: (quotaClass: QuotaClass, priority: Priority, waitMs: number): void =>
      waitSeconds.observe({ provider, quota_class: quotaClass, priority }, waitMs / 1000),
    rejected: (quotaClass: QuotaClass, priority: Priority): void =>
      rejectedTotal.inc({ provider, quota_class: quotaClass, priority }),
    throttled: (quotaClass: QuotaClass): void => pausesTotal.inc({ provider, quota_class: quotaClass }),
    watch: (snapshot: () => readonly BudgetSnapshot[], nowMs: () => number): void =>
      void watched.set(provider, () =>
        snapshot().map((budget) => ({ ...budget, heldUntilMs: budget.heldMs === 0 ? 0 : nowMs() + budget.heldMs })),
      ),
  });
}

function makeGauges(metrics: Metrics, watched: ReadonlyMap<string, () => readonly Watched[]>): void {
  const labels = ["provider", "quota_class"] as const;
  const collectOf =
    (valueOf: (budget: Watched) => number | undefined) => (gauge: Gauge<"provider" | "quota_class">) => {
      gauge.reset();
      for (const [provider, budgets] of watched) {
        for (const budget of budgets()) {
          const value = valueOf(budget);
          if (value !== undefined) for (const one of budget.classes) gauge.set({ provider, quota_class: one }, value);
        }
      }
    };
  metrics.gauge({
    name: "cloudwire_provider_call_budget_tokens",
    help: "Requests to the cloud that calls of a quota class can make now. Below 0 when calls cost more than was left. No series without a limit. Classes that share a budget show the same value.",
    labels,
    collect: collectOf(({ tokens }) => tokens),
  });
  metrics.gauge({
    name: "cloudwire_provider_call_budget_burst",
    help: "Most requests to the cloud that calls of a quota class can make in a burst. No series without a limit.",
    labels,
    collect: collectOf(({ burst }) => burst),
  });
  metrics.gauge({
    name: "cloudwire_provider_call_budget_cloud_calls_per_second",
    help: "Current rate limit of requests to the cloud for a quota class. Lower than declared after the cloud throttled. No series without a limit.",
    labels,
    collect: collectOf(({ cloudCallsPerSecond }) => cloudCallsPerSecond),
  });
  metrics.gauge({
    name: "cloudwire_provider_throttled_until_timestamp_seconds",
    help: "Unix time until which calls of a quota class are paused because the cloud throttles. 0: not paused.",
    labels,
    collect: collectOf(({ heldUntilMs }) => heldUntilMs / 1000),
  });
}
