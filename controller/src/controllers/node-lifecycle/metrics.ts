import type { Logger } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { type CircuitBreaker, isOpen, openMessage } from "./guard/circuit-breaker.ts";

export type NodeLifecycleMetrics = ReturnType<typeof nodeLifecycleMetrics>;

/** Upstream has no metrics for this controller. */
export function nodeLifecycleMetrics(metrics: Metrics) {
  return {
    decisions: metrics.counter({
      name: "cloudwire_node_deletion_decisions_total",
      help: "Evaluations of Nodes that are not Ready, by decision.",
      labels: ["decision"],
    }),
    deletions: metrics.counter({
      name: "cloudwire_node_deletions_total",
      help: "Nodes deleted because their instance does not exist.",
      labels: ["provider"],
    }),
    circuitNodes: metrics.gauge({
      name: "cloudwire_node_deletion_circuit_nodes",
      help: "Nodes that the deletion circuit breaker counts: reported as absent, or deleted in the last 10 minutes.",
      labels: ["provider"],
    }),
    circuitOpen: metrics.gauge({
      name: "cloudwire_node_deletion_circuit_open",
      help: "1: the deletion circuit breaker is open, and no Node is deleted until an operator approves it or fewer instances are absent.",
      labels: ["provider"],
    }),
  } as const;
}

/** Reports the circuit breaker of each provider in metrics, and in the log when it opens and closes. */
export class CircuitBreakerReport {
  readonly #metrics: NodeLifecycleMetrics;
  readonly #log: Logger;
  readonly #open = new Set<string>();

  constructor(metrics: NodeLifecycleMetrics, log: Logger) {
    this.#metrics = metrics;
    this.#log = log;
  }

  observe(provider: string, circuitBreaker: CircuitBreaker): void {
    const open = isOpen(circuitBreaker);
    const { gone } = circuitBreaker;
    this.#metrics.circuitNodes.set({ provider }, gone);
    this.#metrics.circuitOpen.set({ provider }, open ? 1 : 0);
    if (open === this.#open.has(provider)) return;
    if (open) {
      this.#open.add(provider);
      const detail = openMessage(provider, circuitBreaker);
      this.#log.error("Deletion circuit breaker opened; see docs/explanation/deletion-guard.md", { detail });
    } else {
      this.#open.delete(provider);
      this.#log.info("Deletion circuit breaker closed", { provider, gone });
    }
  }
}
