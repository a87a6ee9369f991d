import type {
  InTreeVolumeSource,
  NodeSelectorRequirement,
  PersistentVolume,
  VolumeNodeAffinity,
  VolumeSource,
} from "../api/persistent-volume.ts";
import { isRecord, type JsonRecord, recordField, recordsField, stringField, stringsField } from "../util/json.ts";
import { metaFromJson } from "./meta-codec.ts";
import type { Resource } from "./resource.ts";

/** core/v1 persistentvolumes. JSON only: watched where the reconciling mode is on, and an admission review is JSON anyway. */
export const PERSISTENT_VOLUMES: Resource<PersistentVolume> = {
  group: "",
  version: "v1",
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  namespaced: false,
  fromJson,
};

/** Field of `spec`, its plugin, and the field in it that names the volume. k8s.io/api/core/v1/types.go v0.36.3. */
const IN_TREE = [
  { field: "awsElasticBlockStore", plugin: "kubernetes.io/aws-ebs", id: "volumeID" },
  { field: "gcePersistentDisk", plugin: "kubernetes.io/gce-pd", id: "pdName" },
  { field: "azureDisk", plugin: "kubernetes.io/azure-disk", id: "diskURI" },
  { field: "cinder", plugin: "kubernetes.io/cinder", id: "volumeID" },
  { field: "vsphereVolume", plugin: "kubernetes.io/vsphere-volume", id: "volumePath" },
] as const;

function fromJson(object: JsonRecord): PersistentVolume {
  const spec = recordField(object, "spec");
  return {
    metadata: metaFromJson(object),
    spec: { source: sourceFromJson(spec), nodeAffinity: affinityFromJson(spec) },
  };
}

function sourceFromJson(spec: JsonRecord): VolumeSource | undefined {
  if (isRecord(spec["csi"])) {
    const csi = recordField(spec, "csi");
    return { kind: "csi", driver: stringField(csi, "driver"), volumeHandle: stringField(csi, "volumeHandle") };
  }
  const row = IN_TREE.find(({ field }) => isRecord(spec[field]));
  return row === undefined ? undefined : inTreeFromJson(recordField(spec, row.field), row);
}

function inTreeFromJson(source: JsonRecord, { plugin, id }: (typeof IN_TREE)[number]): InTreeVolumeSource {
  return { kind: "inTree", plugin, volumeId: stringField(source, id) };
}

function affinityFromJson(spec: JsonRecord): VolumeNodeAffinity | undefined {
  if (spec["nodeAffinity"] === undefined || spec["nodeAffinity"] === null) return undefined;
  const required = recordField(recordField(spec, "nodeAffinity"), "required");
  return {
    terms: recordsField(required, "nodeSelectorTerms", (term) => ({
      matchExpressions: recordsField(term, "matchExpressions", requirementFromJson),
    })),
  };
}

function requirementFromJson(requirement: JsonRecord): NodeSelectorRequirement {
  return {
    key: stringField(requirement, "key"),
    operator: stringField(requirement, "operator"),
    values: stringsField(requirement, "values"),
  };
}
