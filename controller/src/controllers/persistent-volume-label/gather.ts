import type { PersistentVolume } from "../../api/persistent-volume.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import { OwnWrites } from "../../kube/cache/store.ts";
import type { VolumeReader } from "../../provider/lookup/volume-reader.ts";
import { type ProviderError, retryDelayMs } from "../../provider/model/errors.ts";
import type { ReconcileContext } from "../../runtime/reconciler.ts";
import { type Input, changesLabeling, lookupOf } from "./plan.ts";

export interface GatherDependencies {
  readonly persistentVolumes: Lister<PersistentVolume>;
  readonly volumes: VolumeReader;
  readonly state: LabelingState;
}

/** undefined: it is deleted, being deleted, done, or not a cloud volume. */
export async function gather(deps: GatherDependencies, { key, signal }: ReconcileContext): Promise<Input | undefined> {
  const { persistentVolumes, volumes, state } = deps;
  const cached = persistentVolumes.get(key);
  if (cached === undefined) {
    state.forget(key);
    return undefined;
  }
  const pv = state.ownWrites.latest(cached);
  if (pv.metadata.deletionTimestampMs !== undefined || state.isSettled(key, pv)) return undefined;
  const lookup = lookupOf(pv);
  switch (lookup.kind) {
    case "none":
      return undefined;
    case "provisioned":
      return { pv, known: lookup };
    case "query":
      return { pv, known: await volumes.get(pv, lookup.source, signal) };
  }
  return lookup satisfies never;
}

export class LabelingState {
  readonly ownWrites = new OwnWrites<PersistentVolume>();
  readonly #settled = new Map<string, PersistentVolume>();
  readonly #failures = new Map<string, number>();

  /** It is not looked up again until it changes. */
  settle(key: string, pv: PersistentVolume): void {
    this.#settled.set(key, pv);
    this.#failures.delete(key);
  }

  isSettled(key: string, pv: PersistentVolume): boolean {
    const settled = this.#settled.get(key);
    return settled !== undefined && !changesLabeling(settled, pv);
  }

  /** Counts a failure and returns the wait; undefined: the queue's back-off. */
  failed(key: string, error: ProviderError): number | undefined {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    return retryDelayMs(error, failures);
  }

  forget(key: string): void {
    this.#settled.delete(key);
    this.#failures.delete(key);
    this.ownWrites.forget(key);
  }
}
