import { exponentialBuckets, type Metrics } from "../../telemetry/metrics.ts";

export type NodeIpamMetrics = ReturnType<typeof nodeIpamMetrics>;

/** Names (one is misspelled), labels and buckets: kubernetes/pkg/controller/nodeipam/ipam/cidrset/metrics.go v1.36.3. The last is ours. */
export function nodeIpamMetrics(metrics: Metrics) {
  const labels = ["clusterCIDR"] as const;
  return {
    allocations: metrics.counter({
      name: "node_ipam_controller_cidrset_cidrs_allocations_total",
      help: "Counter measuring total number of CIDR allocations.",
      labels,
    }),
    releases: metrics.counter({
      name: "node_ipam_controller_cidrset_cidrs_releases_total",
      help: "Counter measuring total number of CIDR releases.",
      labels,
    }),
    capacity: metrics.gauge({
      name: "node_ipam_controller_cirdset_max_cidrs",
      help: "Maximum number of CIDRs that can be allocated.",
      labels,
    }),
    usage: metrics.gauge({
      name: "node_ipam_controller_cidrset_usage_cidrs",
      help: "Gauge measuring percentage of allocated CIDRs.",
      labels,
    }),
    tries: metrics.histogram({
      name: "node_ipam_controller_cidrset_allocation_tries_per_request",
      help: "CIDRs in use that were skipped to find a free one.",
      labels,
      buckets: exponentialBuckets(1, 5, 5),
    }),
    waiting: metrics.gauge({
      name: "cloudwire_node_ipam_waiting_nodes",
      help: "Nodes without pod CIDRs because none is free.",
    }),
  } as const;
}
