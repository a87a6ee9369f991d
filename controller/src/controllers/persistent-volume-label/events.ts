import type { EventInput } from "../../api/event.ts";
import { type PersistentVolume, persistentVolumeReference } from "../../api/persistent-volume.ts";

/** Ours: upstream's controller of that name said nothing. */
const VOLUME_TOPOLOGY_MISMATCH = "VolumeTopologyMismatch";
const VOLUME_NOT_LABELLED = "VolumeNotLabelled";

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
export function notLabelled(pv: PersistentVolume, message: string): EventInput {
  return { regarding: persistentVolumeReference(pv), type: "Warning", reason: VOLUME_NOT_LABELLED, message };
}
