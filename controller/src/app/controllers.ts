import { isControllerEnabled } from "../api/controller-names.ts";
import { kubeletServing } from "../controllers/kubelet-serving-csr-approver/controller.ts";
import { nodeIpam } from "../controllers/node-ipam/controller.ts";
import { whyNotAllocated } from "../controllers/node-ipam/options.ts";
import { nodeLifecycle } from "../controllers/node-lifecycle/controller.ts";
import { cloudNode } from "../controllers/node/controller.ts";
import { persistentVolumeLabel } from "../controllers/persistent-volume-label/controller.ts";
import { nodeRoute } from "../controllers/route/controller.ts";
import { serviceLb } from "../controllers/service/controller.ts";
import type { HistoryStores } from "../explain/history/stores.ts";
import { type Plans, reporter } from "../observe/plans.ts";
import { controllerMetrics, panicCounter } from "../runtime/metrics.ts";
import type { LeaseAnnotation } from "../runtime/lease-annotation.ts";
import type { ControllerContext, Registration } from "../runtime/registration.ts";
import { type Controllers, type ControllersSignals, SupervisedController } from "../runtime/supervised-controller.ts";
import { childSignal } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { workqueueMetrics } from "../workqueue/metrics.ts";
import type { Options } from "./options.ts";

/** All controllers, in the order in which they are listed. */
export const CONTROLLERS: readonly Registration<Options>[] = [
  cloudNode,
  nodeLifecycle,
  serviceLb,
  nodeRoute,
  nodeIpam,
  kubeletServing,
  persistentVolumeLabel,
];

export const CONTROLLER_NAMES: ReadonlySet<string> = new Set(CONTROLLERS.map(({ name }) => name));

export function enabledControllers({ controllers }: Pick<Options, "controllers">): readonly string[] {
  return [...CONTROLLER_NAMES].filter((name) => isControllerEnabled(name, controllers));
}

export interface ControllersDependencies
  extends Pick<ControllerContext<Options>, "options" | "cluster" | "providers" | "program"> {
  /** Receives plans in observe mode. @default plans are applied */
  readonly plans?: Plans | undefined;
  /** Receives results of reconciles. @default none */
  readonly stores?: HistoryStores | undefined;
}

/** Builds nothing before it runs. */
export function prepareControllers(
  dependencies: ControllersDependencies,
  registrations: readonly Registration<Options>[],
): Controllers {
  const { options, program } = dependencies;
  const { clock, log, random } = program;
  const contextOf = contexts(dependencies);
  const panics = panicCounter(program.metrics);
  const leaseAnnotations = new Map<string, readonly LeaseAnnotation[]>();
  const all = registrations.flatMap((registration) => {
    const { name, keepsOnLease = false } = registration;
    const isEnabled = isControllerEnabled(name, options.controllers);
    if (!isEnabled && !keepsOnLease) return [];
    const registered = registration.register(contextOf(registration));
    leaseAnnotations.set(name, registered?.leaseAnnotations ?? []);
    if (!isEnabled) return [];
    return [new SupervisedController({ name, build: () => registered?.build(), clock, log, random, panics })];
  });
  const why = whyNotAllocated(options);
  if (why !== undefined) log.info("Pod CIDRs are not allocated", { controller: nodeIpam.name, detail: why });
  return {
    all,
    leaseAnnotations,
    run: (isChosen, signals) => {
      const chosen = all.filter(({ name }) => isChosen(name));
      return runTogether(chosen, signals, clock);
    },
  };
}

function contexts({
  plans,
  stores,
  ...shared
}: ControllersDependencies): (registration: Registration<Options>) => ControllerContext<Options> {
  const { metrics } = shared.program;
  const queueMetricsOf = workqueueMetrics(metrics);
  const controllerMetricsOf = controllerMetrics(metrics);
  return ({ name, queue, shortName }) => ({
    ...shared,
    name,
    metrics: {
      queue: queueMetricsOf(queue),
      controller: {
        ...controllerMetricsOf(name, shortName),
        ...(plans === undefined ? {} : { planned: reporter(plans, name) }),
        ...(stores === undefined ? {} : { ended: stores.reconciled(name) }),
      },
    },
  });
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
    const tooLate = (): void => abort.abort(new Error("the grace period for running reconciles is over"));
    const timer = clock.schedule(signals.graceMs, tooLate);
    cleanup.defer(() => timer.cancel());
  };
  if (signals.lost.aborted) onLost();
  signals.lost.addEventListener("abort", onLost, { once: true });
  cleanup.defer(() => signals.lost.removeEventListener("abort", onLost));
  stop.signal.addEventListener("abort", startGrace, { once: true });
  await Promise.all(controllers.map((controller) => controller.run({ stop: stop.signal, abort: abort.signal })));
}
