import type { Counter, Gauge, Histogram } from "prom-client";
import { exponentialBuckets, type Metrics } from "../../telemetry/metrics.ts";

/** Upstream's names and buckets where upstream has one: cloud-provider/controllers/service/metrics.go v0.36.3. */
export interface ServiceMetrics {
  readonly loadBalancerSyncs: Counter;
  readonly nodeSyncErrors: Counter;
  readonly nodeSyncLatencySeconds: Histogram;
  readonly updateHostLatencySeconds: Histogram;
  readonly drifts: Counter<"provider" | "kind" | "action">;
  readonly orphans: Gauge<"provider">;
}

/** 1 s to 16,384 s. */
const BUCKETS_SECONDS = exponentialBuckets(1, 2, 15);

export function serviceMetrics(metrics: Metrics): ServiceMetrics {
  return {
    loadBalancerSyncs: metrics.counter({
      name: "service_controller_loadbalancer_sync_total",
      help: "Updates of the nodes of one load balancer.",
    }),
    nodeSyncErrors: metrics.counter({
      name: "service_controller_nodesync_error_total",
      help: "Updates of the nodes of one load balancer that failed.",
    }),
    nodeSyncLatencySeconds: metrics.histogram({
      name: "service_controller_nodesync_latency_seconds",
      help: "Seconds from a change of nodes until every load balancer it concerns was tried.",
      buckets: BUCKETS_SECONDS,
    }),
    updateHostLatencySeconds: metrics.histogram({
      name: "service_controller_update_loadbalancer_host_latency_seconds",
      help: "Seconds to update the nodes of one load balancer.",
      buckets: BUCKETS_SECONDS,
    }),
    drifts: metrics.counter({
      name: "cloudwire_load_balancer_drifts_total",
      help: "Load balancers found otherwise than their provider had acknowledged, by what was found and what was done. left: repaired at a later sweep; rest: not repaired for a day, for it comes back each time.",
      labels: ["provider", "kind", "action"],
    }),
    orphans: metrics.gauge({
      name: "cloudwire_load_balancers_orphaned",
      help: "Load balancers of this cluster that belong to no Service, at the last sweep. They are left alone.",
      labels: ["provider"],
    }),
  };
}
