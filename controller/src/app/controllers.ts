import {
  CLOUD_NODE_CONTROLLER,
  CLOUD_NODE_LIFECYCLE_CONTROLLER,
  KUBELET_SERVING_CSR_APPROVER,
  NODE_IPAM_CONTROLLER,
  NODE_ROUTE_CONTROLLER,
  PERSISTENT_VOLUME_LABEL_CONTROLLER,
  SERVICE_LB_CONTROLLER,
  isControllerEnabled,
} from "../api/controller-names.ts";
import type { Options } from "./options.ts";
import { controllerMetrics, faultCounter } from "../runtime/metrics.ts";
import { type BuildController, SupervisedController } from "../runtime/supervised-controller.ts";
import { childSignal } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { workqueueMetrics } from "../workqueue/metrics.ts";
import { prepareCloudNode } from "./cloud-node.ts";
import type { ControllersDependencies, Prepare } from "./controllers-dependencies.ts";
import { prepareKubeletServing } from "./kubelet-serving.ts";
import { prepareNodeIpam, tellIfNodeIpamIsOff } from "./node-ipam.ts";
import { prepareNodeLifecycle } from "./node-lifecycle.ts";
import { prepareNodeRoute } from "./node-route.ts";
import { reporter } from "./cluster.ts";
import { preparePersistentVolumeLabel } from "./persistent-volume-label.ts";
import { prepareServiceLb } from "./service-lb.ts";

export interface ControllersSignals {
  /** Ask to end: work in hand may finish. */
  readonly stop: AbortSignal;
  /** Leadership is lost: everything ends at once. */
  readonly lost: AbortSignal;
  /** How long work in hand may take after `stop`. */
  readonly graceMs: number;
}

/** How a controller comes to be, and what upstream calls its metrics. */
export interface Part {
  /** Of its queue's metrics. */
  readonly queue: string;
  /** Of its metric running_managed_controllers. */
  readonly shortName: string;
  readonly prepare: Prepare;
}

/** By canonical name. */
export type Parts = Readonly<Record<string, Part>>;

/** What exists. */
const PARTS: Parts = {
  [CLOUD_NODE_CONTROLLER]: { queue: "Nodes", shortName: "cloud-node", prepare: prepareCloudNode },
  [CLOUD_NODE_LIFECYCLE_CONTROLLER]: {
    queue: "node-lifecycle",
    shortName: "cloud-node-lifecycle",
    prepare: prepareNodeLifecycle,
  },
  [SERVICE_LB_CONTROLLER]: { queue: "service", shortName: "service", prepare: prepareServiceLb },
  [NODE_ROUTE_CONTROLLER]: { queue: "Routes", shortName: "route", prepare: prepareNodeRoute },
  [NODE_IPAM_CONTROLLER]: { queue: "cidrallocator_node", shortName: "nodeipam", prepare: prepareNodeIpam },
  [KUBELET_SERVING_CSR_APPROVER]: {
    queue: KUBELET_SERVING_CSR_APPROVER,
    shortName: KUBELET_SERVING_CSR_APPROVER,
    prepare: prepareKubeletServing,
  },
  [PERSISTENT_VOLUME_LABEL_CONTROLLER]: {
    queue: "persistentvolumes",
    shortName: "persistent-volume-label",
    prepare: preparePersistentVolumeLabel,
  },
};

/** Canonical names of the controllers of this program. */
export const CONTROLLERS: ReadonlySet<string> = new Set(Object.keys(PARTS));

/** Those that the options turn on. */
export function enabledControllers({ controllers }: Pick<Options, "controllers">): readonly string[] {
  return [...CONTROLLERS].filter((name) => isControllerEnabled(name, controllers));
}

/** The enabled controllers, to be run together or in parts. */
export interface Controllers {
  readonly all: readonly SupervisedController[];
  /** Runs those that `isChosen` until `stop` or `lost` aborts and their work has ended. */
  run(isChosen: (name: string) => boolean, signals: ControllersSignals): Promise<void>;
}

/** Nothing is built before it runs. A fault of one controller stays its own (runtime/supervised-controller.ts). */
export function prepareControllers(dependencies: ControllersDependencies, instead: Parts = {}): Controllers {
  const parts = { ...PARTS, ...instead };
  const { options, clock } = dependencies;
  const supervise = supervisor(dependencies);
  const all = enabledControllers(options).flatMap((name) => {
    const part = parts[name];
    return part === undefined ? [] : [supervise(name, part)];
  });
  return {
    all,
    run: (isChosen, signals) => {
      tellIfNodeIpamIsOff(dependencies);
      const chosen = all.filter(({ name }) => isChosen(name));
      return runTogether(chosen, signals, clock);
    },
  };
}

function supervisor(dependencies: ControllersDependencies): (name: string, part: Part) => SupervisedController {
  const { metrics, plans, memories } = dependencies;
  const queueMetricsOf = workqueueMetrics(metrics);
  const controllerMetricsOf = controllerMetrics(metrics);
  const faults = faultCounter(metrics);
  return (name, { queue, shortName, prepare }) => {
    const reporting = {
      ...(plans === undefined ? {} : { planned: reporter(plans, name) }),
      ...(memories === undefined ? {} : { ended: memories.reconciled(name) }),
    };
    const own = {
      queueMetrics: queueMetricsOf(queue),
      controllerMetrics: { ...controllerMetricsOf(name, shortName), ...reporting },
    };
    let build: BuildController | undefined;
    return new SupervisedController({
      ...dependencies,
      name,
      // Metric families can be made once only; all else is made anew.
      build: () => {
        build ??= prepare(dependencies, own);
        return build();
      },
      faults,
    });
  };
}

async function runTogether(
  controllers: readonly SupervisedController[],
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
  if (signals.lost.aborted) onLost();
  signals.lost.addEventListener("abort", onLost, { once: true });
  cleanup.defer(() => signals.lost.removeEventListener("abort", onLost));
  stop.signal.addEventListener("abort", startGrace, { once: true });
  await Promise.all(controllers.map((controller) => controller.run({ stop: stop.signal, abort: abort.signal })));
}
