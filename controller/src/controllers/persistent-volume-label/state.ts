import type { PersistentVolume } from "../../api/persistent-volume.ts";
import { OwnWrites } from "../../kube/cache/own-writes.ts";
import { type ProviderError, retryDelayMs } from "../../provider/model/errors.ts";
import { changesLabelling } from "./predicates.ts";

/** What this process remembers of PersistentVolumes. */
export class LabellingState {
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
    return settled !== undefined && !changesLabelling(settled, pv);
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
