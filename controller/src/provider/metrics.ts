import type { Counter, Gauge, Histogram } from "prom-client";
import { exponentialBuckets, type Metrics } from "../telemetry/metrics.ts";
import { type BudgetMetrics, budgetMetrics } from "./limits/metrics.ts";

/** What is measured of calls to providers; made once a process, shared by all providers. */
export interface ProviderMetrics {
  readonly callDurationSeconds: Histogram<"provider" | "method" | "code" | "reason">;
  readonly callsInFlight: Gauge<"provider">;
  readonly cloudCallsTotal: Counter<"provider" | "method" | "kind">;
  readonly cloudDataAgeSeconds: Histogram<"provider" | "method">;
  readonly cloudThrottledTotal: Counter<"provider" | "method">;
  /** Of one provider's budgets; to be asked for once each. */
  readonly budgetsOf: (provider: string) => BudgetMetrics;
}

export function providerMetrics(metrics: Metrics): ProviderMetrics {
  return {
    callDurationSeconds: metrics.histogram({
      name: "cloudwire_provider_call_duration_seconds",
      help: "Time from sending a call to a provider to its answer, by gRPC code and contract reason.",
      labels: ["provider", "method", "code", "reason"],
      // 1 ms to 65 s: the contract's longest deadline is 60 s.
      buckets: exponentialBuckets(0.001, 2, 17),
    }),
    callsInFlight: metrics.gauge({
      name: "cloudwire_provider_calls_in_flight",
      help: "Calls sent to a provider and not answered yet.",
      labels: ["provider"],
    }),
    cloudCallsTotal: metrics.counter({
      name: "cloudwire_cloud_calls_total",
      help: "Requests that a provider sent to its cloud to answer calls; kind is read, change or retry.",
      labels: ["provider", "method", "kind"],
    }),
    cloudDataAgeSeconds: metrics.histogram({
      name: "cloudwire_cloud_data_age_seconds",
      help: "Age of the oldest cloud data in an answer of a provider.",
      labels: ["provider", "method"],
      buckets: [0.1, 1, 5, 10, 30, 60, 120, 300, 900],
    }),
    cloudThrottledTotal: metrics.counter({
      name: "cloudwire_cloud_throttled_total",
      help: "Answers of a provider whose cloud throttled it meanwhile.",
      labels: ["provider", "method"],
    }),
    budgetsOf: budgetMetrics(metrics),
  };
}
