import * as Wire from "../../../gen/cloudwire/kube/v1/kube.ts";
import type { NodeSelectorRequirement, PersistentVolume, VolumeSource } from "../../api/persistent-volume.ts";
import { isRecord, type JsonRecord, recordField, recordsField, stringField, stringsField } from "../../util/json.ts";
import { type Resource, metaFromJson, metaFromWire, protobufCodec } from "./codec.ts";

export const PERSISTENT_VOLUMES: Resource<PersistentVolume> = {
  group: "",
  version: "v1",
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  namespaced: false,
  fromJson,
  protobuf: protobufCodec(Wire.PersistentVolume, Wire.PersistentVolumeList, fromWire),
};

/** Field of the source, its plugin, and the field in it that names the volume. k8s.io/api/core/v1/types.go v0.36.3. */
const IN_TREE = [
  row("awsElasticBlockStore", "aws-ebs", "volumeID", (wire) => wire.awsElasticBlockStore?.volumeID),
  row("gcePersistentDisk", "gce-pd", "pdName", (wire) => wire.gcePersistentDisk?.pdName),
  row("azureDisk", "azure-disk", "diskURI", (wire) => wire.azureDisk?.diskURI),
  row("cinder", "cinder", "volumeID", (wire) => wire.cinder?.volumeID),
  row("vsphereVolume", "vsphere-volume", "volumePath", (wire) => wire.vsphereVolume?.volumePath),
] as const;

interface InTreeRow {
  readonly plugin: string;
  readonly idFromJson: (spec: JsonRecord) => string | undefined;
  readonly idFromWire: (source: Wire.PersistentVolumeSource) => string | undefined;
}

function row(field: string, plugin: string, id: string, idFromWire: InTreeRow["idFromWire"]): InTreeRow {
  return {
    plugin: `kubernetes.io/${plugin}`,
    idFromJson: (spec) => (isRecord(spec[field]) ? stringField(recordField(spec, field), id) : undefined),
    idFromWire,
  };
}

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
  return inTree(({ idFromJson }) => idFromJson(spec));
}

function inTree(idOf: (candidate: InTreeRow) => string | undefined): VolumeSource | undefined {
  for (const candidate of IN_TREE) {
    const volumeId = idOf(candidate);
    if (volumeId !== undefined) return { kind: "inTree", plugin: candidate.plugin, volumeId };
  }
  return undefined;
}

function affinityFromJson(spec: JsonRecord): PersistentVolume["spec"]["nodeAffinity"] {
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

function fromWire({ metadata, spec }: Wire.PersistentVolume): PersistentVolume {
  const source = spec?.persistentVolumeSource;
  const affinity = spec?.nodeAffinity;
  return {
    metadata: metaFromWire(metadata),
    spec: {
      source: source === undefined ? undefined : sourceFromWire(source),
      nodeAffinity: affinity === undefined ? undefined : { terms: affinity.required?.nodeSelectorTerms ?? [] },
    },
  };
}

function sourceFromWire(source: Wire.PersistentVolumeSource): VolumeSource | undefined {
  const { csi } = source;
  if (csi !== undefined) return { kind: "csi", driver: csi.driver, volumeHandle: csi.volumeHandle };
  return inTree(({ idFromWire }) => idFromWire(source));
}
