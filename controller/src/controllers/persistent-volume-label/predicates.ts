import { PROVISIONED_BY, type PersistentVolume } from "../../api/persistent-volume.ts";
import { deepEqual } from "../../util/equal.ts";

/** In whatever its labels and node affinity follow from. What it is bound to, and its finalizers, do not matter. */
export function changesLabelling(old: PersistentVolume, pv: PersistentVolume): boolean {
  return !deepEqual(relevant(old), relevant(pv));
}

function relevant({ metadata: { uid, labels, annotations }, spec }: PersistentVolume): unknown {
  return [uid, labels, annotations[PROVISIONED_BY], spec];
}
