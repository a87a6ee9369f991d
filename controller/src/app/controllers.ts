import {
  CLOUD_NODE_CONTROLLER,
  CLOUD_NODE_LIFECYCLE_CONTROLLER,
  CONTROLLER_ALIASES,
  EVENT_SOURCES,
  KUBELET_SERVING_CSR_APPROVER,
  NODE_IPAM_CONTROLLER,
  NODE_ROUTE_CONTROLLER,
  PERSISTENT_VOLUME_LABEL_CONTROLLER,
  OFF_BY_DEFAULT,
  SERVICE_LB_CONTROLLER,
} from "../api/controller-names.ts";
import { cloudNodeController } from "../controllers/node/controller.ts";
import { nodeMetrics } from "../controllers/node/metrics.ts";
import { isControllerEnabled } from "../options/enabled-controllers.ts";
import type { Controller } from "../runtime/controller.ts";
import { controllerMetrics } from "../runtime/metrics.ts";
import { childSignal } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { workqueueMetrics } from "../workqueue/metrics.ts";
import type { ControllersDependencies, SharedMetrics } from "./controllers-dependencies.ts";
import { buildKubeletServing } from "./kubelet-serving.ts";
import { buildNodeIpam, tellIfNodeIpamIsOff } from "./node-ipam.ts";
import { buildNodeLifecycle } from "./node-lifecycle.ts";
import { buildNodeRoute } from "./node-route.ts";
import { buildPersistentVolumeLabel } from "./persistent-volume-label.ts";
import { buildServiceLb } from "./service-lb.ts";

export interface ControllersSignals {
  /** Ask to end: work in hand may finish. */
  readonly stop: AbortSignal;
  /** Leadership is lost: everything ends at once. */
  readonly lost: AbortSignal;
  /** How long work in hand may take after `stop`. */
  readonly graceMs: number;
}

/** undefined: the options leave nothing for it to do. */
type Build = () => Controller | undefined;

/** Canonical names of the controllers of this program. */
export const CONTROLLERS: ReadonlySet<string> = new Set([
  CLOUD_NODE_CONTROLLER,
  CLOUD_NODE_LIFECYCLE_CONTROLLER,
  SERVICE_LB_CONTROLLER,
  NODE_ROUTE_CONTROLLER,
  NODE_IPAM_CONTROLLER,
  KUBELET_SERVING_CSR_APPROVER,
  PERSISTENT_VOLUME_LABEL_CONTROLLER,
]);

/** The enabled controllers, to be run together or in parts; each at most once. */
export interface Controllers {
  /** Runs those that `isChosen` until `stop` or `lost` aborts and their work has ended. */
  run(isChosen: (name: string) => boolean, signals: ControllersSignals): Promise<void>;
}

/** Nothing is built before it runs. */
export function prepareControllers(dependencies: ControllersDependencies): Controllers {
  const { options, clock } = dependencies;
  const enabled = Object.entries(builders(dependencies)).filter(([name]) =>
    isControllerEnabled(name, options.controllers, OFF_BY_DEFAULT, CONTROLLER_ALIASES),
  );
  return {
    run: (isChosen, signals) => {
      tellIfNodeIpamIsOff(dependencies);
      const chosen = enabled.filter(([name]) => isChosen(name)).flatMap(([, build]) => build() ?? []);
      return runTogether(chosen, signals, clock);
    },
  };
}

async function runTogether(
  controllers: readonly Controller[],
  signals: ControllersSignals,
  clock: Clock,
): Promise<void> {
  using cleanup = new DisposableStack();
  const stop = cleanup.use(childSignal(signals.stop));
  const abort = cleanup.use(childSignal(signals.lost));
  const onLost = (): void => stop.abort(signals.lost.reason);
  const startGrace = (): void => {
    const tooLate = (): void => abort.abort(new Error("the grace time for work in hand is over"));
    const timer = clock.schedule(signals.graceMs, tooLate);
    cleanup.defer(() => timer.cancel());
  };
  signals.lost.addEventListener("abort", onLost, { once: true });
  cleanup.defer(() => signals.lost.removeEventListener("abort", onLost));
  stop.signal.addEventListener("abort", startGrace, { once: true });
  await Promise.all(controllers.map((controller) => controller.run({ stop: stop.signal, abort: abort.signal })));
}

/** One flat list: what exists, from what it is made. */
function builders(dependencies: ControllersDependencies): Readonly<Record<string, Build>> {
  const { options, kube, provider, metrics, log, clock } = dependencies;
  const queueMetricsOf = workqueueMetrics(metrics);
  const controllerMetricsOf = controllerMetrics(metrics);
  const shared = (queue: string, name: string, shortName: string): SharedMetrics => {
    return { queueMetrics: queueMetricsOf(queue), controllerMetrics: controllerMetricsOf(name, shortName) };
  };
  return {
    [CLOUD_NODE_CONTROLLER]: () =>
      cloudNodeController({
        nodes: kube.nodes,
        instances: provider.instances,
        providers: provider.providers,
        kube: kube.client,
        events: kube.events.recorder(EVENT_SOURCES.cloudNode),
        clock,
        log,
        metrics: nodeMetrics(metrics),
        queueMetrics: queueMetricsOf("Nodes"),
        controllerMetrics: controllerMetricsOf(CLOUD_NODE_CONTROLLER, "cloud-node"),
        onProviderReady: (listener) => provider.onReady(listener),
        settings: {
          workers: options.concurrentNodeSyncs,
          refreshPeriodMs: options.nodeStatusUpdateFrequency,
          topologyPolicy: options.nodeTopologyPolicy,
        },
      }),
    [CLOUD_NODE_LIFECYCLE_CONTROLLER]: () =>
      buildNodeLifecycle(
        dependencies,
        shared("node-lifecycle", CLOUD_NODE_LIFECYCLE_CONTROLLER, "cloud-node-lifecycle"),
      ),
    [SERVICE_LB_CONTROLLER]: () => buildServiceLb(dependencies, shared("service", SERVICE_LB_CONTROLLER, "service")),
    [NODE_ROUTE_CONTROLLER]: () => buildNodeRoute(dependencies, shared("Routes", NODE_ROUTE_CONTROLLER, "route")),
    [NODE_IPAM_CONTROLLER]: () =>
      buildNodeIpam(dependencies, shared("cidrallocator_node", NODE_IPAM_CONTROLLER, "nodeipam")),
    [KUBELET_SERVING_CSR_APPROVER]: () =>
      buildKubeletServing(
        dependencies,
        shared(KUBELET_SERVING_CSR_APPROVER, KUBELET_SERVING_CSR_APPROVER, KUBELET_SERVING_CSR_APPROVER),
      ),
    [PERSISTENT_VOLUME_LABEL_CONTROLLER]: () =>
      buildPersistentVolumeLabel(
        dependencies,
        shared("persistentvolumes", PERSISTENT_VOLUME_LABEL_CONTROLLER, "persistent-volume-label"),
      ),
  };
}
