import { type EventInput, VOLUME_NOT_LABELED, VOLUME_TOPOLOGY_MISMATCH } from "../../api/event.ts";
import { type PersistentVolume, persistentVolumeReference } from "../../api/persistent-volume.ts";

/** The PersistentVolume and the cloud say different things; somebody has to look. */
export function topologyMismatch(pv: PersistentVolume, message: string): EventInput {
  return {
    regarding: persistentVolumeReference(pv),
    type: "Warning",
    reason: VOLUME_TOPOLOGY_MISMATCH,
    message: `${message}; nothing is changed`,
  };
}

/** Why it gets no labels, and will not unless something changes. */
export function notLabeled(pv: PersistentVolume, message: string): EventInput {
  return { regarding: persistentVolumeReference(pv), type: "Warning", reason: VOLUME_NOT_LABELED, message };
}
