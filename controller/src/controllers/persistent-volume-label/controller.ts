import { PERSISTENT_VOLUME_LABEL_CONTROLLER } from "../../api/controller-names.ts";
import { keyOf } from "../../api/meta.ts";
import type { PersistentVolume } from "../../api/persistent-volume.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import { Controller } from "../../runtime/controller.ts";
import type { ControllerMetrics } from "../../runtime/metrics.ts";
import { stepReconciler } from "../../runtime/reconciler.ts";
import { informerSource, type Source } from "../../runtime/source.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Tracing } from "../../telemetry/tracing.ts";
import type { Clock } from "../../util/clock.ts";
import { Semaphore } from "../../util/semaphore.ts";
import type { QueueMetrics } from "../../workqueue/metrics.ts";
import { DEFAULT_BACKOFF, exponentialLimiter } from "../../workqueue/rate-limiter.ts";
import { createWorkqueue } from "../../workqueue/rate-limited-queue.ts";
import { apply } from "./apply.ts";
import { gather } from "./gather.ts";
import type { OutcomeCounter } from "./metrics.ts";
import { planOutcome } from "./plan/outcome.ts";
import { changesLabelling } from "./predicates.ts";
import { LabellingState } from "./state.ts";
import type { VolumeReader } from "../../provider/lookup/volume-reader.ts";

export interface PersistentVolumeLabelDependencies {
  readonly persistentVolumes: Informer<PersistentVolume>;
  readonly volumes: VolumeReader;
  readonly kube: Pick<KubeClient, "patch">;
  /** Of source EVENT_SOURCES.persistentVolumeLabel. */
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly outcomes: OutcomeCounter;
  readonly queueMetrics: QueueMetrics;
  readonly controllerMetrics: ControllerMetrics;
  readonly tracing: Tracing;
  /** Calls back whenever a provider has become usable; answers how to end that. */
  readonly onProviderReady: (listener: () => void) => () => void;
}

/** PersistentVolumes looked up at once: as many as the largest batch of the contract takes. */
const LOOKUPS = 1000;

/** PersistentVolumes written at once. It is done once in a volume's life: there is no hurry. */
const WRITERS = 10;

/**
 * Labels PersistentVolumes that no webhook has seen, such as those made before there was one, and bounds those that are not bound to
 * any nodes yet. Adds what is missing and changes nothing that is there.
 */
export function persistentVolumeLabelController(deps: PersistentVolumeLabelDependencies): Controller {
  const { clock, log, queueMetrics, controllerMetrics, tracing } = deps;
  const state = new LabellingState();
  const writers = new Semaphore(WRITERS);
  return new Controller({
    name: PERSISTENT_VOLUME_LABEL_CONTROLLER,
    reconciler: stepReconciler(
      {
        gather: (context) => gather({ ...deps, persistentVolumes: deps.persistentVolumes.lister, state }, context),
        plan: planOutcome,
        apply: async (planned, context) => {
          const leave = await writers.enter(context.priority, context.signal);
          try {
            return await apply(planned, { ...deps, state }, context);
          } finally {
            leave();
          }
        },
      },
      clock,
    ),
    sources: [persistentVolumeSource(deps), providerReadySource(deps)],
    queue: createWorkqueue({ clock, limiter: exponentialLimiter(DEFAULT_BACKOFF), metrics: queueMetrics }),
    workers: LOOKUPS,
    clock,
    log,
    metrics: controllerMetrics,
    tracing,
  });
}

function persistentVolumeSource({ persistentVolumes }: PersistentVolumeLabelDependencies): Source {
  return informerSource({
    name: "persistentvolumes",
    informer: persistentVolumes,
    predicate: { add: () => true, update: changesLabelling, delete: () => true },
  });
}

/** Those that wait are tried at once and together, and a provider may serve more drivers than before. Of the others nothing is asked. */
function providerReadySource({ persistentVolumes, onProviderReady }: PersistentVolumeLabelDependencies): Source {
  return {
    name: "provider ready",
    ready: () => Promise.resolve(),
    start: (queue) =>
      onProviderReady(() => {
        for (const pv of persistentVolumes.lister.list()) queue.add(keyOf(pv), { priority: "low" });
      }),
  };
}
