import type { Counter, Gauge } from "prom-client";
import type { Logger } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { type CircuitBreaker, openMessage, isOpen } from "./guard/circuit-breaker.ts";

/** Upstream has none for this controller. */
export interface NodeLifecycleMetrics {
  /** Every look at a Node that is not Ready and what came of it: a kind of plan or the reason of a hold. */
  readonly decisions: Counter<"decision">;
  readonly deletions: Counter<"provider">;
  readonly absentNodes: Gauge<"provider">;
  readonly brake: Gauge<"provider">;
}

export function nodeLifecycleMetrics(metrics: Metrics): NodeLifecycleMetrics {
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
    absentNodes: metrics.gauge({
      name: "cloudwire_node_deletion_circuit_nodes",
      help: "Nodes that the deletion circuit breaker counts: reported as absent, or deleted in the last 10 minutes.",
      labels: ["provider"],
    }),
    brake: metrics.gauge({
      name: "cloudwire_node_deletion_circuit_open",
      help: "1: the deletion circuit breaker is open, and no Node is deleted until an operator approves it or fewer instances are absent.",
      labels: ["provider"],
    }),
  };
}

/** Tells metrics how far each provider's Nodes are from the brake, and the log when it takes hold and when it lets go. */
export class CircuitBreakerReport {
  readonly #metrics: NodeLifecycleMetrics;
  readonly #log: Logger;
  readonly #open = new Set<string>();

  constructor(metrics: NodeLifecycleMetrics, log: Logger) {
    this.#metrics = metrics;
    this.#log = log;
  }

  see(provider: string, brake: CircuitBreaker): void {
    const open = isOpen(brake);
    this.#metrics.absentNodes.set({ provider }, brake.gone);
    this.#metrics.brake.set({ provider }, open ? 1 : 0);
    if (open === this.#open.has(provider)) return;
    if (open) {
      this.#open.add(provider);
      const why = openMessage(provider, brake);
      this.#log.error(
        "Nodes are not deleted any more: too many would go at once; see docs/explanation/deletion-guard.md",
        { why },
      );
    } else {
      this.#open.delete(provider);
      this.#log.info("Nodes may be deleted again", { provider, gone: brake.gone });
    }
  }
}
