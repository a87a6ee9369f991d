import { type EventInput, VOLUME_NOT_LABELED, VOLUME_TOPOLOGY_MISMATCH } from "../../api/event.ts";
import { type PersistentVolume, persistentVolumeReference } from "../../api/persistent-volume.ts";

/** The PersistentVolume conflicts with the cloud, and an operator must decide. */
export function topologyMismatch(pv: PersistentVolume, message: string): EventInput {
  return {
    regarding: persistentVolumeReference(pv),
    type: "Warning",
    reason: VOLUME_TOPOLOGY_MISMATCH,
    message: `${message}; nothing is changed`,
  };
}

export function notLabeled(pv: PersistentVolume, message: string): EventInput {
  return { regarding: persistentVolumeReference(pv), type: "Warning", reason: VOLUME_NOT_LABELED, message };
}
