import type { PersistentVolume } from "../../api/persistent-volume.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import { OwnWrites } from "../../kube/cache/store.ts";
import type { VolumeReader } from "../../provider/lookup/volume-reader.ts";
import { type ProviderError, retryDelayMs } from "../../provider/model/errors.ts";
import type { ReconcileContext } from "../../runtime/reconciler.ts";
import { type Input, changesLabeling, questionOf } from "./plan.ts";

/** What this step reads from. */
export interface GatherDependencies {
  readonly persistentVolumes: Lister<PersistentVolume>;
  readonly volumes: VolumeReader;
  readonly state: LabelingState;
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

/** What this process remembers of PersistentVolumes. */
export class LabelingState {
  readonly ownWrites = new OwnWrites<PersistentVolume>();
  /** As they were when they were done with. */
  readonly #settled = new Map<string, PersistentVolume>();
  /** Times in a row that the cloud did not answer about each. */
  readonly #failures = new Map<string, number>();

  /** Done with, as it is: the cloud is not asked again before it changes. */
  settle(key: string, pv: PersistentVolume): void {
    this.#settled.set(key, pv);
    this.#failures.delete(key);
  }

  isSettled(key: string, pv: PersistentVolume): boolean {
    const settled = this.#settled.get(key);
    return settled !== undefined && !changesLabeling(settled, pv);
  }

  /** Counts a failure and answers how long to wait before the next try; undefined: the queue's own back-off. */
  failed(key: string, error: ProviderError): number | undefined {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    return retryDelayMs(error, failures);
  }

  /** It is gone. */
  forget(key: string): void {
    this.#settled.delete(key);
    this.#failures.delete(key);
    this.ownWrites.forget(key);
  }
}
