import { EVENT_SOURCES, NODE_ROUTE_CONTROLLER } from "../api/controller-names.ts";
import { nodeRouteController, type NodeRouteSettings } from "../controllers/route/controller.ts";
import { routeMetrics } from "../controllers/route/metrics.ts";
import type { Options } from "./options.ts";
import type { BuildController } from "../runtime/supervised-controller.ts";
import { parseCidr } from "../util/cidr.ts";
import type { ControllersDependencies, SharedMetrics } from "./controllers-dependencies.ts";

/** node-route-controller from what the process has; none where routes are not to be managed, and the log says why. */
export function prepareNodeRoute(dependencies: ControllersDependencies, own: SharedMetrics): BuildController {
  const { options, kube, provider, metrics, log, clock, tracing } = dependencies;
  const why = whyNot(options);
  if (why !== undefined) {
    log.info("Routes are not managed", { controller: NODE_ROUTE_CONTROLLER, why });
    return () => undefined;
  }
  const shared = { ...own, metrics: routeMetrics(metrics) };
  return () =>
    nodeRouteController({
      ...shared,
      nodes: kube.nodes,
      providers: provider.providers,
      instances: provider.instances,
      kube: kube.client,
      events: kube.events.recorder(EVENT_SOURCES.route),
      clock,
      log,
      tracing,
      onProviderReady: (listener) => provider.onReady(listener),
      settings: nodeRouteSettings(options),
    });
}

/** The controller has something to do where it is on. */
export function managesRoutes(options: Options): boolean {
  return whyNot(options) === undefined;
}

/** Upstream ends the process for an empty --cluster-cidr: cloud-provider/app/core.go v0.36.3. */
function whyNot({ configureCloudRoutes, clusterCidr }: ControllersDependencies["options"]): string | undefined {
  if (!configureCloudRoutes) return "--configure-cloud-routes is false";
  return clusterCidr === "" ? "--cluster-cidr is not given" : undefined;
}

/** What the controller reads whenever it needs it: getters, for what may change while it runs. */
export function nodeRouteSettings(options: Options): NodeRouteSettings {
  return {
    clusterCidrs: options.clusterCidr.split(",").flatMap((text) => parseCidr(text.trim()) ?? []),
    get periodMs() {
      return options.routeReconciliationPeriod;
    },
  };
}
