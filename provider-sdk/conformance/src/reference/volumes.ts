import {
  absent,
  ProviderError,
  type VolumeBatchResult,
  type VolumeHandlers,
  type VolumeRef,
} from "@cloudwire/provider-sdk";

const volumes = [
  { id: "vol-1", zones: ["zone-2", "zone-1"], region: "region-1", labels: { "acme.example.com/tier": "fast" } },
  { id: "vol-2", zones: ["zone-2"], region: "region-1" },
];

const lookUp = ({ source }: VolumeRef): VolumeBatchResult => {
  const handle = source.kind === "csi" ? source.volumeHandle : source.volumeId;
  if (!handle.startsWith("vol-")) return new ProviderError("FIELD_INVALID", `${handle} is no volume id of this cloud`);
  return volumes.find(({ id }) => id === handle) ?? absent("LOOKUP_MISS");
};

/** Two volumes. */
export const referenceVolumes: VolumeHandlers = {
  features: { csiDrivers: ["csi.acme.example.com"], inTreePlugins: ["kubernetes.io/acme"] },
  getMany: (refs, { recordCloudCall }) => {
    recordCloudCall({});
    return refs.map(lookUp);
  },
};
