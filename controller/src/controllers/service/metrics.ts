import type { Service } from "../../api/service.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import { type Metrics, exponentialBuckets } from "../../telemetry/metrics.ts";
import { reportedReadiness } from "./plan/status.ts";
import { wantsLoadBalancer } from "./predicates.ts";

export type ServiceMetrics = ReturnType<typeof serviceMetrics>;

/** 1 s to 16,384 s. */
const BUCKETS_SECONDS = exponentialBuckets(1, 2, 15);

/** Upstream's names and buckets where upstream has one: cloud-provider/controllers/service/metrics.go v0.36.3. */
export function serviceMetrics(metrics: Metrics) {
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
      help: "Seconds from a change of nodes until the controller has tried to update every affected load balancer.",
      buckets: BUCKETS_SECONDS,
    }),
    updateHostLatencySeconds: metrics.histogram({
      name: "service_controller_update_loadbalancer_host_latency_seconds",
      help: "Seconds to update the nodes of one load balancer.",
      buckets: BUCKETS_SECONDS,
    }),
    drifts: metrics.counter({
      name: "cloudwire_load_balancer_drifts_total",
      help: "Load balancers that differ from what their provider acknowledged, by kind of drift and action taken.",
      labels: ["provider", "kind", "action"],
    }),
    orphans: metrics.gauge({
      name: "cloudwire_load_balancers_orphaned",
      help: "Load balancers of this cluster without a Service, at the last sweep. The controller does not change them.",
      labels: ["provider"],
    }),
  };
}

/** Reason of a Service without the condition. */
const UNKNOWN = "Unknown";

/** Counts the cached Services by the reason of their condition at each scrape. */
export function exposeConditionReasons(
  metrics: Metrics,
  services: () => Iterable<Service>,
  providers: Pick<ProviderSet, "providers" | "ownerOfService">,
): void {
  metrics.gauge({
    name: "cloudwire_services",
    help: "Services with a load balancer, by provider and reason of their condition cloudwire.dev/LoadBalancerReady. provider is empty if there is none or it is unknown.",
    labels: ["provider", "reason"],
    collect: (gauge) => {
      gauge.reset();
      for (const { name } of providers.providers) gauge.set({ provider: name, reason: "Ready" }, 0);
      for (const service of services()) {
        const owner = providers.ownerOfService(service);
        const reported = reportedReadiness(service)?.reason;
        if (reported === undefined && (owner.kind !== "owned" || !wantsLoadBalancer(service))) continue;
        gauge.inc({ provider: owner.kind === "owned" ? owner.provider.name : "", reason: reported ?? UNKNOWN });
      }
    },
  });
}
