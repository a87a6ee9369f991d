import type { Counter } from "prom-client";
import type { Logger } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { BreachSink } from "../model/breach.ts";

export type BreachCounter = Counter<"provider" | "method" | "rule">;

/** Created once per process. */
export function breachCounter(metrics: Metrics): BreachCounter {
  return metrics.counter({
    name: "cloudwire_provider_contract_violations_total",
    help: "Responses of a provider, or items of them, that violate the contract and were not used, by kind of rule.",
    labels: ["provider", "method", "rule"],
  });
}

/** A hostile provider can violate the contract in any number of fields. */
const MAX_LOGGED = 100;

/** Counts every violation, and logs each field of each method once: the number of repetitions is in the metric. */
export function breachReporter(provider: string, counter: BreachCounter, log: Logger): BreachSink {
  const logged = new Set<string>();
  return ({ method, rule, field, description }) => {
    counter.inc({ provider, method, rule });
    const key = `${method} ${rule} ${field.replaceAll(/\d+/g, "")}`;
    if (logged.has(key) || logged.size >= MAX_LOGGED) return;
    logged.add(key);
    log.error("Provider response violates the contract and was not used", { method, rule, field, detail: description });
  };
}
