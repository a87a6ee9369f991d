import { EVENT_SOURCES, PERSISTENT_VOLUME_LABEL_CONTROLLER } from "../../api/controller-names.ts";
import { keyOf } from "../../api/meta.ts";
import { BatchingVolumeReader } from "../../provider/lookup/volume-reader.ts";
import { Controller } from "../../runtime/controller.ts";
import { type Reconciler, stepReconciler } from "../../runtime/reconciler.ts";
import type { ControllerContext, Registration } from "../../runtime/registration.ts";
import { informerSource, providerReadySource } from "../../runtime/source.ts";
import { once } from "../../util/once.ts";
import { Semaphore } from "../../util/semaphore.ts";
import { DEFAULT_BACKOFF } from "../../workqueue/rate-limited-queue.ts";
import { apply } from "./apply.ts";
import { LabelingState, gather } from "./gather.ts";
import { labelingCounter, type ResultCounter } from "./metrics.ts";
import { changesLabeling, planOutcome } from "./plan.ts";

type Context = ControllerContext<unknown>;

/** Concurrent lookups: the largest batch of the contract. */
const LOOKUPS = 1000;

/** Concurrent writes. Each volume is written once, so that there is no hurry. */
const WRITERS = 10;

/** No client waits for the result. */
const READS = { windowMs: 50, maxDataAgeMs: 30_000, priority: "low" } as const;

export const persistentVolumeLabel: Registration<unknown> = {
  name: PERSISTENT_VOLUME_LABEL_CONTROLLER,
  queue: "persistentvolumes",
  shortName: "persistent-volume-label",
  register: (context) => {
    const results = once(() => labelingCounter(context.program.metrics));
    return { build: () => persistentVolumeLabelController(context, results()) };
  },
};

/**
 * Labels PersistentVolumes that the webhook has not seen, for example older ones, and adds missing node affinity. Existing values are not
 * changed.
 */
function persistentVolumeLabelController(context: Context, results: ResultCounter): Controller {
  const { persistentVolumes } = context.cluster;
  return new Controller(context, {
    reconciler: persistentVolumeReconciler(context, results),
    sources: [
      informerSource({
        name: "persistentvolumes",
        informer: persistentVolumes,
        predicate: { add: () => true, update: changesLabeling, delete: () => true },
      }),
      // A provider may support more drivers than before. Other volumes are not looked up.
      providerReadySource(context.providers, (queue) => {
        for (const pv of persistentVolumes.lister.list()) queue.add(keyOf(pv), { priority: "low" });
      }),
    ],
    workers: LOOKUPS,
    backoff: DEFAULT_BACKOFF,
  });
}

function persistentVolumeReconciler(
  { cluster, providers: { providers }, program: { clock, tracing } }: Context,
  results: ResultCounter,
): Reconciler {
  const state = new LabelingState();
  const volumes = new BatchingVolumeReader({ providers: () => providers.providers, clock, settings: READS, tracing });
  const gathering = { persistentVolumes: cluster.persistentVolumes.lister, volumes, state };
  const events = cluster.events.recorder(EVENT_SOURCES.persistentVolumeLabel);
  const applying = { kube: cluster.client, events, results, state };
  const writers = new Semaphore(WRITERS);
  return stepReconciler(
    {
      gather: (context) => gather(gathering, context),
      plan: planOutcome,
      apply: (planned, context) => writers.run(context, () => apply(planned, applying, context)),
    },
    clock,
  );
}
