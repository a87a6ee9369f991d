import type { Volume as WireVolume, VolumeRef as WireVolumeRef } from "@cloudwire/proto/cloudprovider/v1/volume";
import type { Volume, VolumeRef, VolumeSource } from "../../definition/volumes.ts";

/** A PersistentVolume as a provider reads it; undefined without source. */
export const fromWireVolumeRef = (volume: WireVolumeRef): VolumeRef | undefined => {
  const source = fromWireSource(volume.source);
  if (!source) return undefined;
  return { name: volume.name, ...(volume.uid ? { uid: volume.uid } : {}), source };
};

const fromWireSource = (source: WireVolumeRef["source"]): VolumeSource | undefined => {
  switch (source?.$case) {
    case "csi":
      return { kind: "csi", driver: source.value.driver, volumeHandle: source.value.volumeHandle };
    case "inTree":
      return { kind: "inTree", plugin: source.value.plugin, volumeId: source.value.volumeId };
    default:
      return undefined;
  }
};

/** A volume as it travels. */
export const toWireVolume = (volume: Volume): WireVolume => ({
  id: volume.id,
  zones: (volume.zones ?? []).toSorted(),
  region: volume.region,
  labels: { ...volume.labels },
  nodeAffinity: (volume.nodeAffinity ?? []).map((requirements) => ({
    requirements: requirements.map(({ key, values }) => ({ key, values: [...values] })),
  })),
});
