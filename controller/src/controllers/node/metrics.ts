import type { Metrics } from "../../telemetry/metrics.ts";

export type NodeMetrics = ReturnType<typeof nodeMetrics>;

const BUCKETS_SECONDS = [1, 4, 16, 64, 256, 1024];

/** The histograms have upstream's names and buckets: cloud-provider/controllers/node/metrics.go v0.36.3. The gauges are ours. */
export function nodeMetrics(metrics: Metrics) {
  return {
    taintRemovalDelaySeconds: metrics.histogram({
      name: "node_controller_cloud_provider_taint_removal_delay_seconds",
      help: "Seconds from a Node's creation to the removal of its uninitialized taint.",
      buckets: BUCKETS_SECONDS,
    }),
    initialSyncDelaySeconds: metrics.histogram({
      name: "node_controller_initial_node_sync_delay_seconds",
      help: "Seconds from a Node's creation to the end of its initialization.",
      buckets: BUCKETS_SECONDS,
    }),
    unowned: metrics.gauge({
      name: "cloudwire_nodes_unowned",
      help: "Nodes with the uninitialized taint that no provider owns.",
    }),
    uninitialized: metrics.gauge({
      name: "cloudwire_nodes_uninitialized",
      help: "Nodes that keep the uninitialized taint after at least one attempt, by reason.",
      labels: ["reason"],
    }),
    differences: metrics.gauge({
      name: "cloudwire_node_differences",
      help: "Nodes that differ from their instance and that the controller does not update, by field.",
      labels: ["field"],
    }),
  } as const;
}
