import type { KubeObject, ObjectReference } from "./meta.ts";

/** core/v1 PersistentVolume, trimmed to what locates its volume. */
export interface PersistentVolume extends KubeObject {
  readonly spec: PersistentVolumeSpec;
}

export interface PersistentVolumeSpec {
  /** undefined: not a cloud volume, such as NFS or a host path. */
  readonly source: VolumeSource | undefined;
  /** `spec.nodeAffinity`; never changed once set. */
  readonly nodeAffinity: VolumeNodeAffinity | undefined;
}

export type VolumeSource = CsiVolumeSource | InTreeVolumeSource;

export interface CsiVolumeSource {
  readonly kind: "csi";
  readonly driver: string;
  readonly volumeHandle: string;
}

/** A source of a removed in-tree plugin: the API still accepts it, and a CSI driver serves it. */
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

/** The provisioner of the volume. k8s.io/component-helpers/storage/volume/pv_helpers.go v0.36.3. */
export const PROVISIONED_BY = "pv.kubernetes.io/provisioned-by";

/** ID of an in-tree volume that does not exist yet. k8s.io/cloud-provider/volume/constants.go v0.36.3. */
export const PLACEHOLDER_VOLUME_ID = "placeholder-for-provisioning";

/** Between the zones of one label. k8s.io/cloud-provider/volume/constants.go v0.36.3. */
export const ZONE_DELIMITER = "__";

export function persistentVolumeReference({ metadata: { name, uid } }: KubeObject): ObjectReference {
  return { apiVersion: "v1", kind: "PersistentVolume", namespace: "", name, uid };
}
