import { randomUUID } from "node:crypto";
import { EVENT_SOURCES } from "../api/controller-names.ts";
import { serviceLbController, type ServiceLbSettings } from "../controllers/service/controller.ts";
import { exposeToldStates, serviceMetrics } from "../controllers/service/metrics.ts";
import type { Options } from "./options.ts";
import type { BuildController } from "../runtime/supervised-controller.ts";
import type { ControllersDependencies, SharedMetrics } from "./controllers-dependencies.ts";

/** service-lb from what the process has. */
export function prepareServiceLb(
  { options, kube, provider, metrics, log, clock, random, tracing }: ControllersDependencies,
  own: SharedMetrics,
): BuildController {
  const shared = { ...own, metrics: serviceMetrics(metrics) };
  exposeToldStates(metrics, { services: () => kube.services.lister.list(), providers: provider.providers });
  return () =>
    serviceLbController({
      ...shared,
      services: kube.services,
      nodes: kube.nodes,
      providers: provider.providers,
      kube: kube.client,
      events: kube.events.recorder(EVENT_SOURCES.service),
      clock,
      random,
      newId: randomUUID,
      log,
      tracing,
      onProviderReady: (listener) => provider.onReady(listener),
      settings: serviceLbSettings(options),
    });
}

/** What the controller reads whenever it needs it: getters, for what may change while it runs. */
export function serviceLbSettings(options: Options): ServiceLbSettings {
  return {
    workers: options.concurrentServiceSyncs,
    get driftPeriodMs() {
      return options.loadBalancerDriftPeriod;
    },
    get adoptsLoadBalancers() {
      return options.adoptLoadBalancers;
    },
    loadBalancers: { tags: {} },
  };
}
