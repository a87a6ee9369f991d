import type { InstanceReader } from "../../provider/lookup/instance-reader.ts";
import type { ProviderError } from "../../provider/model/errors.ts";
import type { InstanceResult } from "../../provider/model/instance.ts";
import type { Logger } from "../../telemetry/log.ts";
import { exponentialBuckets, type Metrics } from "../../telemetry/metrics.ts";
import { type CircuitBreaker, isOpen, openMessage } from "./guard/circuit-breaker.ts";

export type NodeLifecycleMetrics = ReturnType<typeof nodeLifecycleMetrics>;

/** The first two have upstream's names, labels and buckets: cloud-provider/controllers/nodelifecycle/metrics.go v0.37.2. */
export function nodeLifecycleMetrics(metrics: Metrics) {
  return {
    durationSeconds: metrics.histogram({
      name: "cloud_node_lifecycle_controller_monitor_nodes_duration_seconds",
      help: "Seconds from the lookup of the instance of a Node that is not Ready to the end of the resulting write.",
      buckets: exponentialBuckets(0.001, 2, 15),
    }),
    cloudProviderCalls: metrics.counter({
      name: "cloud_node_lifecycle_controller_cloud_provider_calls_total",
      help: "Results of lookups of instances, by operation and result. One lookup has the results of two operations.",
      labels: ["operation", "result"],
    }),
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

export type CallOperation = "instance_exists" | "instance_shutdown";
export type CallResult = "success" | "error" | "instance_not_found" | "not_implemented" | "canceled";
type CallResults = Partial<Readonly<Record<CallOperation, CallResult>>>;

/** Counts the results of `reader`. */
export function countedReader(reader: InstanceReader, { cloudProviderCalls }: NodeLifecycleMetrics): InstanceReader {
  return {
    get: async (node, question) => {
      let results: CallResults = { instance_exists: "canceled" };
      try {
        const result = await reader.get(node, question);
        results = callResults(result);
        return result;
      } finally {
        for (const [operation, result] of Object.entries(results)) cloudProviderCalls.inc({ operation, result });
      }
    },
  };
}

/** The results of the calls that upstream would have made. Without a call there are none. */
export function callResults(result: InstanceResult): CallResults {
  switch (result.kind) {
    case "present":
      return {
        instance_exists: "success",
        instance_shutdown: result.instance.state === "unknown" ? "not_implemented" : "success",
      };
    case "absent":
    case "noMatch":
      return { instance_exists: "instance_not_found" };
    case "unknown":
      return result.error.isClientThrottled ? {} : { instance_exists: failureOf(result.error) };
    case "notOwned":
      return {};
  }
  return result satisfies never;
}

function failureOf({ code }: ProviderError): CallResult {
  if (code === "UNIMPLEMENTED") return "not_implemented";
  return code === "CANCELLED" ? "canceled" : "error";
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
