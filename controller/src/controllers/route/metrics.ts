import type { Metrics } from "../../telemetry/metrics.ts";

export type RouteMetrics = ReturnType<typeof routeMetrics>;

/** The first is upstream's: cloud-provider/controllers/route/metrics.go v0.36.3. */
export function routeMetrics(metrics: Metrics) {
  return {
    routeSyncs: metrics.counter({
      name: "route_controller_route_sync_total",
      help: "Full comparisons of routes with nodes that were started.",
    }),
    quotaLimit: metrics.gauge({
      name: "cloudwire_route_quota_limit",
      help: "Maximum number of routes in the cloud's route table, by provider. No series unless the provider reports it.",
      labels: ["provider"],
    }),
    quotaUsed: metrics.gauge({
      name: "cloudwire_route_quota_used",
      help: "Routes in the cloud's route table, including those of other owners, by provider.",
      labels: ["provider"],
    }),
  } as const;
}
