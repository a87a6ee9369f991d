import { sameJson } from "../json.ts";
import { type KubeObject, nameOf } from "../object.ts";
import { formatTime } from "../schema/time.ts";
import { type FieldError, forbiddenField, notSupported, required } from "../validation/field-error.ts";
import { validateImmutable } from "../validation/metadata.ts";
import { dnsSubdomain } from "../validation/names.ts";
import { age, ageColumn, nameColumn } from "./columns.ts";
import type { Cell, Resource } from "./resource.ts";

type PersistentVolume = KubeObject &
  Readonly<{
    spec: Readonly<{
      capacity?: Readonly<Record<string, string>> | undefined;
      accessModes?: readonly string[] | undefined;
      claimRef?: Readonly<{ namespace?: string; name?: string }> | undefined;
      persistentVolumeReclaimPolicy?: string | undefined;
      storageClassName?: string | undefined;
      volumeMode?: string | undefined;
      nodeAffinity?: Readonly<{ required?: unknown }> | undefined;
      volumeAttributesClassName?: string | undefined;
      hostPath?: Readonly<{ path: string; type?: string }> | undefined;
    }>;
    status: Readonly<{
      phase?: string | undefined;
      reason?: string | undefined;
      lastPhaseTransitionTime?: string | undefined;
    }>;
  }>;

const accessModes = new Map([
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
]);
const reclaimPolicies = ["Delete", "Recycle", "Retain"];
const volumeModes = ["Block", "Filesystem"];
const legacyClassAnnotation = "volume.beta.kubernetes.io/storage-class";

/** Fields of a spec that are not a volume source. */
const plainFields = [
  "capacity",
  "accessModes",
  "claimRef",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "mountOptions",
  "volumeMode",
  "nodeAffinity",
  "volumeAttributesClassName",
];

export function createPersistentVolumes(nowMs: () => number): Resource<PersistentVolume> {
  const now = (): string => formatTime(nowMs());
  return {
    group: "",
    version: "v1",
    name: "persistentvolumes",
    singular: "persistentvolume",
    kind: "PersistentVolume",
    type: "core.v1.PersistentVolume",
    namespaced: false,
    shortNames: ["pv"],
    nameRule: dnsSubdomain,
    strategy: {
      allowUnconditionalUpdate: true,
      applyDefaults,
      admit: protect,
      prepareForCreate: (volume) => ({ ...volume, status: { phase: "Pending", lastPhaseTransitionTime: now() } }),
      prepareForUpdate: (volume, old) => ({ ...volume, status: old.status }),
      validate,
      validateUpdate: (volume, old) => [
        ...validate(volume),
        ...validateSourceKept(volume, old),
        ...validateImmutable("volumeMode", volume.spec.volumeMode, old.spec.volumeMode),
      ],
    },
    subresources: [
      {
        name: "status",
        verbs: ["get", "patch", "update"],
        prepareForUpdate: (volume, old) => withTransition({ ...volume, spec: old.spec }, old, now()),
      },
    ],
    columns: [
      nameColumn,
      { name: "Capacity" },
      { name: "Access Modes" },
      { name: "Reclaim Policy" },
      { name: "Status" },
      { name: "Claim" },
      { name: "StorageClass" },
      { name: "VolumeAttributesClass" },
      { name: "Reason" },
      ageColumn,
      { name: "VolumeMode", priority: 1 },
    ],
    row,
    selectableFields: [],
  };
}

function applyDefaults(volume: PersistentVolume): PersistentVolume {
  const { spec, status } = volume;
  return {
    ...volume,
    spec: {
      ...spec,
      persistentVolumeReclaimPolicy: spec.persistentVolumeReclaimPolicy ?? "Retain",
      volumeMode: spec.volumeMode ?? "Filesystem",
      ...(spec.hostPath === undefined ? {} : { hostPath: { ...spec.hostPath, type: spec.hostPath.type ?? "" } }),
    },
    status: { ...status, phase: status.phase ?? "Pending" },
  };
}

/** Admission plugin StorageObjectInUseProtection. */
function protect(volume: PersistentVolume): PersistentVolume {
  const finalizer = "kubernetes.io/pv-protection";
  const finalizers = volume.metadata.finalizers ?? [];
  if (finalizers.includes(finalizer)) return volume;
  return { ...volume, metadata: { ...volume.metadata, finalizers: [...finalizers, finalizer] } };
}

function withTransition(volume: PersistentVolume, old: PersistentVolume, now: string): PersistentVolume {
  const { status } = volume;
  const before = old.status.lastPhaseTransitionTime;
  const given = status.lastPhaseTransitionTime;
  if (status.phase === old.status.phase) {
    return given === undefined ? { ...volume, status: { ...status, lastPhaseTransitionTime: before } } : volume;
  }
  if (given !== undefined && given !== before) return volume;
  return { ...volume, status: { ...status, lastPhaseTransitionTime: now } };
}

function validate({ spec }: PersistentVolume): readonly FieldError[] {
  const modes = spec.accessModes ?? [];
  const capacity = spec.capacity ?? {};
  const policy = spec.persistentVolumeReclaimPolicy;
  const known = [...accessModes.keys()].sort();
  return [
    ...(modes.length === 0 ? [required("spec.accessModes")] : []),
    ...modes.flatMap((mode) => (accessModes.has(mode) ? [] : [notSupported("spec.accessModes", mode, known)])),
    ...(Object.keys(capacity).length === 0 ? [required("spec.capacity")] : []),
    ...(capacity["storage"] === undefined || Object.keys(capacity).length > 1
      ? [notSupported("spec.capacity", capacityOf(spec.capacity), ["storage"])]
      : []),
    ...(policy === undefined || reclaimPolicies.includes(policy)
      ? []
      : [notSupported("spec.persistentVolumeReclaimPolicy", policy, reclaimPolicies)]),
    ...(sourcesOf(spec).length === 0 ? [required("spec", "must specify a volume type")] : []),
    ...(spec.volumeMode === undefined || volumeModes.includes(spec.volumeMode)
      ? []
      : [notSupported("spec.volumeMode", spec.volumeMode, volumeModes)]),
  ];
}

/** Go writes a map without entries as null. */
function capacityOf(capacity: Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> | null {
  return capacity ?? null;
}

function validateSourceKept(volume: PersistentVolume, old: PersistentVolume): readonly FieldError[] {
  const source = Object.fromEntries(sourcesOf(volume.spec));
  const before = Object.fromEntries(sourcesOf(old.spec));
  const detail = "spec.persistentvolumesource is immutable after creation";
  return sameJson(source, before) ? [] : [forbiddenField("spec.persistentvolumesource", detail)];
}

function sourcesOf(spec: Readonly<Record<string, unknown>>): readonly (readonly [string, string])[] {
  return Object.entries(spec).flatMap(([field, value]) =>
    plainFields.includes(field) || value === undefined ? [] : [[field, JSON.stringify(value)] as const],
  );
}

function row(volume: PersistentVolume, nowMs: number): readonly Cell[] {
  const { spec, status, metadata } = volume;
  return [
    nameOf(volume),
    spec.capacity?.["storage"] ?? "0",
    modesText(spec.accessModes ?? []),
    spec.persistentVolumeReclaimPolicy ?? "",
    metadata.deletionTimestamp === undefined ? (status.phase ?? "") : "Terminating",
    claimText(volume),
    metadata.annotations?.[legacyClassAnnotation] ?? spec.storageClassName ?? "",
    spec.volumeAttributesClassName ?? "<unset>",
    status.reason ?? "",
    age(volume, nowMs),
    spec.volumeMode ?? "<unset>",
  ];
}

function claimText({ spec }: PersistentVolume): string {
  const claim = spec.claimRef;
  return claim === undefined ? "" : `${claim.namespace ?? ""}/${claim.name ?? ""}`;
}

function modesText(modes: readonly string[]): string {
  return [...accessModes].flatMap(([mode, short]) => (modes.includes(mode) ? [short] : [])).join(",");
}
