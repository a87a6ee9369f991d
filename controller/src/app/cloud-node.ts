import { EVENT_SOURCES } from "../api/controller-names.ts";
import { cloudNodeController, type CloudNodeSettings } from "../controllers/node/controller.ts";
import { nodeMetrics } from "../controllers/node/metrics.ts";
import type { Options } from "./options.ts";
import type { BuildController } from "../runtime/supervised-controller.ts";
import type { ControllersDependencies, SharedMetrics } from "./controllers-dependencies.ts";

/** cloud-node-controller from what the process has. */
export function prepareCloudNode(
  { options, kube, provider, metrics, log, clock, tracing }: ControllersDependencies,
  own: SharedMetrics,
): BuildController {
  const shared = { ...own, metrics: nodeMetrics(metrics) };
  return () =>
    cloudNodeController({
      ...shared,
      nodes: kube.nodes,
      instances: provider.instances,
      providers: provider.providers,
      kube: kube.client,
      events: kube.events.recorder(EVENT_SOURCES.cloudNode),
      clock,
      log,
      tracing,
      onProviderReady: (listener) => provider.onReady(listener),
      settings: cloudNodeSettings(options),
    });
}

/** What the controller reads whenever it needs it: getters, for what may change while it runs. */
export function cloudNodeSettings(options: Options): CloudNodeSettings {
  return {
    workers: options.concurrentNodeSyncs,
    get refreshPeriodMs() {
      return options.nodeStatusUpdateFrequency;
    },
    topologyPolicy: options.nodeTopologyPolicy,
  };
}
