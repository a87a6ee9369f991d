import type { PersistentVolume } from "../../api/persistent-volume.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import type { ReconcileContext } from "../../runtime/reconciler.ts";
import { questionOf } from "./plan.ts";
import type { FactsResult } from "./plan/labels.ts";
import type { LabellingState } from "./state.ts";
import type { VolumeKnowledge, VolumeReader } from "../../provider/lookup/volume-reader.ts";

/** What this step reads from. */
export interface GatherDependencies {
  readonly persistentVolumes: Lister<PersistentVolume>;
  readonly volumes: VolumeReader;
  readonly state: LabellingState;
}

/** A PersistentVolume and what is known of its volume. */
export interface Input {
  readonly pv: PersistentVolume;
  readonly known: VolumeKnowledge | { readonly kind: "provisioned"; readonly result: FactsResult };
}

/** undefined: it is gone, going, done with, or no volume of a cloud. */
export async function gather(deps: GatherDependencies, { key, signal }: ReconcileContext): Promise<Input | undefined> {
  const { persistentVolumes, volumes, state } = deps;
  const cached = persistentVolumes.get(key);
  if (cached === undefined) {
    state.forget(key);
    return undefined;
  }
  const pv = state.ownWrites.latest(cached);
  if (pv.metadata.deletionTimestampMs !== undefined || state.isSettled(key, pv)) return undefined;
  const question = questionOf(pv);
  switch (question.kind) {
    case "nothing":
      return undefined;
    case "provisioned":
      return { pv, known: question };
    case "ask":
      return { pv, known: await volumes.get(pv, question.source, signal) };
  }
  return question satisfies never;
}
