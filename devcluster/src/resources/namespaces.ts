import { type KubeObject, nameOf, withMetadata } from "../object.ts";
import { type FieldError, invalidValue } from "../validation/field-error.ts";
import { validateText } from "../validation/metadata.ts";
import { dnsLabel, qualifiedName } from "../validation/names.ts";
import { age, ageColumn, nameColumn } from "./columns.ts";
import type { Resource } from "./resource.ts";

export type Namespace = KubeObject &
  Readonly<{
    spec: Readonly<{ finalizers?: readonly string[] | undefined }>;
    status: Readonly<{ phase?: string | undefined }>;
  }>;

/** Keeps a namespace until its content is gone. */
const contentFinalizer = "kubernetes";
const nameLabel = "kubernetes.io/metadata.name";
/** Admission plugin NamespaceLifecycle never lets these go. */
const immortal = ["default", "kube-public", "kube-system"];

export const namespaces: Resource<Namespace> = {
  group: "",
  version: "v1",
  name: "namespaces",
  singular: "namespace",
  kind: "Namespace",
  type: "core.v1.Namespace",
  namespaced: false,
  shortNames: ["ns"],
  deleteCollection: false,
  nameRule: dnsLabel,
  strategy: {
    allowUnconditionalUpdate: true,
    holdsDeletion: ({ spec }) => (spec.finalizers?.length ?? 0) > 0,
    markDeleting: (namespace) => ({ ...namespace, status: { ...namespace.status, phase: "Terminating" } }),
    refuseDeletion: (name) => (immortal.includes(name) ? "this namespace may not be deleted" : undefined),
    applyDefaults,
    prepareForCreate,
    prepareForUpdate: (namespace, old) => ({ ...namespace, spec: old.spec, status: old.status }),
    validate: validateFinalizers,
  },
  subresources: [
    {
      name: "finalize",
      verbs: ["update"],
      prepareForUpdate: (namespace, old) => ({ ...namespace, status: old.status }),
      validateUpdate: validateFinalizers,
    },
    {
      name: "status",
      verbs: ["get", "patch", "update"],
      prepareForUpdate: (namespace, old) => ({ ...namespace, spec: old.spec }),
      validateUpdate: validatePhase,
    },
  ],
  columns: [nameColumn, { name: "Status" }, ageColumn],
  row: (namespace, nowMs) => [nameOf(namespace), namespace.status.phase ?? "", age(namespace, nowMs)],
  selectableFields: ["status.phase"],
  fieldsOf: ({ status }) => ({ "status.phase": status.phase ?? "" }),
};

function applyDefaults(namespace: Namespace): Namespace {
  const name = nameOf(namespace);
  const labeled =
    name === "" ? namespace : withMetadata(namespace, { labels: { ...namespace.metadata.labels, [nameLabel]: name } });
  return { ...labeled, status: { ...labeled.status, phase: labeled.status.phase ?? "Active" } };
}

function prepareForCreate(namespace: Namespace): Namespace {
  const finalizers = namespace.spec.finalizers ?? [];
  const complete = finalizers.includes(contentFinalizer) ? finalizers : [...finalizers, contentFinalizer];
  const labels = { ...namespace.metadata.labels, [nameLabel]: nameOf(namespace) };
  return { ...withMetadata(namespace, { labels }), spec: { finalizers: complete }, status: { phase: "Active" } };
}

function validateFinalizers({ spec }: Namespace): readonly FieldError[] {
  return (spec.finalizers ?? []).flatMap((finalizer) => validateText("spec.finalizers", finalizer, qualifiedName));
}

function validatePhase({ metadata, status }: Namespace): readonly FieldError[] {
  const expected = metadata.deletionTimestamp === undefined ? "Active" : "Terminating";
  if (status.phase === expected) return [];
  const condition = expected === "Active" ? "is empty" : "is not empty";
  const detail = `may only be '${expected}' if \`deletionTimestamp\` ${condition}`;
  return [invalidValue("status.Phase", status.phase, detail)];
}
