import { randomUUID } from "node:crypto";
import { EVENT_SOURCES } from "../api/controller-names.ts";
import { serviceLbController } from "../controllers/service/controller.ts";
import { serviceMetrics } from "../controllers/service/metrics.ts";
import type { Controller } from "../runtime/controller.ts";
import type { ControllersDependencies, SharedMetrics } from "./controllers-dependencies.ts";

/** service-lb from what the process has. */
export function buildServiceLb(
  { options, kube, provider, metrics, log, clock, random }: ControllersDependencies,
  own: SharedMetrics,
): Controller {
  return serviceLbController({
    ...own,
    services: kube.services,
    nodes: kube.nodes,
    providers: provider.providers,
    kube: kube.client,
    events: kube.events.recorder(EVENT_SOURCES.service),
    clock,
    random,
    newId: randomUUID,
    log,
    metrics: serviceMetrics(metrics),
    onProviderReady: (listener) => provider.onReady(listener),
    settings: {
      workers: options.concurrentServiceSyncs,
      driftPeriodMs: options.loadBalancerDriftPeriod,
      loadBalancers: { tags: {} },
    },
  });
}
