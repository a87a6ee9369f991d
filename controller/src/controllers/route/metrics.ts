import type { ReconcileContext, Result } from "../../runtime/reconciler.ts";
import type { Metrics } from "../../telemetry/metrics.ts";

export type RouteMetrics = ReturnType<typeof routeMetrics>;

/** The first is upstream's: cloud-provider/controllers/route/metrics.go v0.37.2. */
export function routeMetrics(metrics: Metrics) {
  return {
    routeSyncs: metrics.counter({
      name: "route_controller_route_sync_total",
      help: "Route reconciles, by outcome and by trigger.",
      labels: ["outcome", "trigger"],
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

/** A change of a Node, or a pass over all routes of a provider with the reconciles of the Nodes that it enqueues. */
export type SyncTrigger = "node_change" | "periodic";
export type SyncOutcome = "changed" | "noop" | "error";

export interface Sync {
  readonly result: Result;
  /** A route was created or deleted. */
  readonly isChange: boolean;
}

/** Counts reconciles, except those that their signal aborted. */
export class SyncCounter {
  readonly #metrics: RouteMetrics;
  readonly #enqueuedByPass = new Set<string>();

  constructor(metrics: RouteMetrics) {
    this.#metrics = metrics;
  }

  /** The next reconciles of this Node are due to a pass, until one of them succeeds. */
  enqueuedByPass(nodeName: string): void {
    this.#enqueuedByPass.add(nodeName);
  }

  succeeded(nodeName: string): void {
    this.#enqueuedByPass.delete(nodeName);
  }

  pass({ signal }: ReconcileContext, sync: () => Promise<Sync>): Promise<Result> {
    return this.#count("periodic", signal, sync);
  }

  node({ key, signal }: ReconcileContext, sync: () => Promise<Sync>): Promise<Result> {
    return this.#count(this.#enqueuedByPass.has(key) ? "periodic" : "node_change", signal, sync);
  }

  async #count(trigger: SyncTrigger, signal: AbortSignal, sync: () => Promise<Sync>): Promise<Result> {
    const { routeSyncs } = this.#metrics;
    try {
      const { result, isChange } = await sync();
      routeSyncs.inc({ trigger, outcome: isChange ? "changed" : "noop" });
      return result;
    } catch (error) {
      if (!signal.aborted) routeSyncs.inc({ trigger, outcome: "error" });
      throw error;
    }
  }
}
