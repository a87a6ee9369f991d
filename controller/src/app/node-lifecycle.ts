import { EVENT_SOURCES } from "../api/controller-names.ts";
import { nodeLifecycleController, type NodeLifecycleSettings } from "../controllers/node-lifecycle/controller.ts";
import { DeletionLedger } from "../controllers/node-lifecycle/deletion-history.ts";
import { nodeLifecycleMetrics } from "../controllers/node-lifecycle/metrics.ts";
import { ProviderMemory } from "../controllers/node-lifecycle/node-history.ts";
import type { Options } from "./options.ts";
import type { BuildController } from "../runtime/supervised-controller.ts";
import type { ControllersDependencies, SharedMetrics } from "./controllers-dependencies.ts";

/** cloud-node-lifecycle from what the process has. */
export function prepareNodeLifecycle(
  {
    options,
    kube,
    provider,
    metrics,
    log,
    clock,
    tracing,
    deletions = new DeletionLedger({ clock, log }),
  }: ControllersDependencies,
  own: SharedMetrics,
): BuildController {
  const shared = { ...own, metrics: nodeLifecycleMetrics(metrics), memory: new ProviderMemory(), deletions };
  return () =>
    nodeLifecycleController({
      ...shared,
      nodes: kube.nodes,
      instances: provider.instances,
      providers: provider.providers,
      kube: kube.client,
      events: kube.events.recorder(EVENT_SOURCES.cloudNodeLifecycle),
      clock,
      log,
      tracing,
      onProviderReady: (listener) => provider.onReady(listener),
      settings: nodeLifecycleSettings(options),
    });
}

/** What the controller reads whenever it needs it: getters, for what may change while it runs. */
export function nodeLifecycleSettings(options: Options): NodeLifecycleSettings {
  return {
    get periodMs() {
      return options.nodeMonitorPeriod;
    },
    get confirmations() {
      return options.nodeDeletionConfirmations;
    },
    get spanMs() {
      return options.nodeDeletionSpan;
    },
    get maxPercent() {
      return options.nodeDeletionMaxPercent;
    },
  };
}
