import { Lru } from "../../util/lru.ts";
import type { DroppedLabel } from "./plan/labels.ts";

/** A provider sends the same labels for all of its machines: more keys than this are told again now and then. */
const MAX_KEYS = 1000;

/** Keys of the cloud's labels that no Node gets: the vendor's to mend, so each is said once and not once a Node. */
export class DroppedLabels {
  readonly #told = new Lru<string, true>(MAX_KEYS);

  /** Those not told yet. */
  news(labels: readonly DroppedLabel[]): readonly DroppedLabel[] {
    return labels.filter(({ key, why }) => {
      const topic = `${why} ${key}`;
      if (this.#told.get(topic) === true) return false;
      this.#told.set(topic, true);
      return true;
    });
  }
}
