import type { KubeObject, ObjectReference } from "./meta.ts";

/** core/v1 PersistentVolume, trimmed to what says where its volume is. */
export interface PersistentVolume extends KubeObject {
  readonly spec: PersistentVolumeSpec;
}

export interface PersistentVolumeSpec {
  /** undefined: of a kind that no cloud has, such as NFS or a path of a node. */
  readonly source: VolumeSource | undefined;
  /** `spec.nodeAffinity`; a PersistentVolume that has one keeps it as it is. */
  readonly nodeAffinity: VolumeNodeAffinity | undefined;
}

export type VolumeSource = CsiVolumeSource | InTreeVolumeSource;

export interface CsiVolumeSource {
  readonly kind: "csi";
  readonly driver: string;
  readonly volumeHandle: string;
}

/** A source of one of the former in-tree plugins. The API still takes them; their CSI drivers serve them. */
export interface InTreeVolumeSource {
  readonly kind: "inTree";
  /** Plugin name, such as `kubernetes.io/aws-ebs`. */
  readonly plugin: string;
  readonly volumeId: string;
}

export interface VolumeNodeAffinity {
  /** `required.nodeSelectorTerms`: any one must hold. */
  readonly terms: readonly NodeSelectorTerm[];
}

export interface NodeSelectorTerm {
  /** All must hold. */
  readonly matchExpressions: readonly NodeSelectorRequirement[];
}

export interface NodeSelectorRequirement {
  readonly key: string;
  /** "In", "NotIn", "Exists", "DoesNotExist", "Gt" or "Lt". */
  readonly operator: string;
  readonly values: readonly string[];
}

/** Says which provisioner made the volume. k8s.io/component-helpers/storage/volume/pv_helpers.go v0.36.3. */
export const PROVISIONED_BY = "pv.kubernetes.io/provisioned-by";

/** Stands for the id of an in-tree volume that is still to be made. k8s.io/cloud-provider/volume/constants.go v0.36.3. */
export const PLACEHOLDER_VOLUME_ID = "placeholder-for-provisioning";

/** Between the zones of one label. k8s.io/cloud-provider/volume/constants.go v0.36.3. */
export const ZONE_DELIMITER = "__";

/** Reference for Events about a PersistentVolume. */
export function persistentVolumeReference({ metadata: { name, uid } }: KubeObject): ObjectReference {
  return { apiVersion: "v1", kind: "PersistentVolume", namespace: "", name, uid };
}
