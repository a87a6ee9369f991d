import type { Json } from "../json.ts";
import { type KubeObject, type ObjectMeta, type OwnerReference, nameOf } from "../object.ts";
import { type FieldError, forbiddenField, invalidValue, required, tooLong } from "./field-error.ts";
import { type TextRule, dnsLabel, isLabelValue, pathSegment, qualifiedName } from "./names.ts";

/** All annotations of an object together (upstream TotalAnnotationSizeLimitB). */
const annotationsLimitBytes = 256 * 1024;

const immutable = "field is immutable";

/** What a kind asks of the metadata of its objects. */
export interface MetadataRules {
  readonly namespaced: boolean;
  readonly nameRule: TextRule;
  readonly anyFinalizer?: true;
}

/** What is wrong with the metadata of an object about to be created. */
export function validateMetadata(object: KubeObject, rules: MetadataRules): readonly FieldError[] {
  const { metadata } = object;
  const { namespaced, nameRule } = rules;
  return [
    ...validateGenerateName(metadata, nameRule),
    ...validateName(object, nameRule),
    ...validateNamespace(metadata, namespaced),
    ...validateLabels(metadata.labels, "metadata.labels"),
    ...validateAnnotations(metadata),
    ...validateOwnerReferences(metadata.ownerReferences ?? []),
    ...validateFinalizers(metadata.finalizers ?? [], rules.anyFinalizer === true),
  ];
}

/** What is wrong with changing the metadata of a stored object; the server's own fields are already carried over. */
export function validateMetadataUpdate(
  object: KubeObject,
  old: KubeObject,
  rules: MetadataRules,
): readonly FieldError[] {
  const { metadata } = object;
  return [
    // A name that was good enough once stays so.
    ...validateMetadata(object, { ...rules, nameRule: pathSegment }),
    ...validateNoNewFinalizers(metadata, old.metadata),
    ...immutableFields.flatMap((field) => validateImmutable(`metadata.${field}`, metadata[field], old.metadata[field])),
  ];
}

const standardFinalizers = ["kubernetes", "orphan", "foregroundDeletion"];

const immutableFields = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;

/** The rules of labels, which selectors share. */
export function validateLabels(
  labels: Readonly<Record<string, string>> | undefined,
  field: string,
): readonly FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...qualifiedName(key).map((complaint) => invalidValue(field, key, complaint)),
    ...isLabelValue(value).map((complaint) => invalidValue(field, value, complaint)),
  ]);
}

/** An error when a field that may not change does. */
export function validateImmutable(
  field: string,
  value: Json | undefined,
  old: Json | undefined,
): readonly FieldError[] {
  return JSON.stringify(value) === JSON.stringify(old) ? [] : [invalidValue(field, value, immutable)];
}

/** Complaints of a text rule as errors of one field. */
export function validateText(field: string, value: string, rule: TextRule): readonly FieldError[] {
  return rule(value).map((complaint) => invalidValue(field, value, complaint));
}

function validateGenerateName({ generateName = "" }: ObjectMeta, nameRule: TextRule): readonly FieldError[] {
  if (generateName === "") return [];
  // A trailing dash is fine: the generated part follows it.
  const checked =
    generateName.length > 1 && generateName.endsWith("-") ? `${generateName.slice(0, -1)}a` : generateName;
  return nameRule(checked).map((complaint) => invalidValue("metadata.generateName", generateName, complaint));
}

function validateName(object: KubeObject, nameRule: TextRule): readonly FieldError[] {
  const name = nameOf(object);
  if (name === "") return [required("metadata.name", "name or generateName is required")];
  const complaints = nameRule(name);
  return validateText("metadata.name", name, complaints.length > 0 ? nameRule : pathSegment);
}

function validateNamespace({ namespace = "" }: ObjectMeta, namespaced: boolean): readonly FieldError[] {
  const field = "metadata.namespace";
  if (!namespaced) return namespace === "" ? [] : [forbiddenField(field, "not allowed on this type")];
  return namespace === "" ? [required(field)] : validateText(field, namespace, dnsLabel);
}

function validateAnnotations({ annotations = {} }: ObjectMeta): readonly FieldError[] {
  const field = "metadata.annotations";
  const errors = Object.keys(annotations).flatMap((key) =>
    qualifiedName(key.toLowerCase()).map((complaint) => invalidValue(field, key, complaint)),
  );
  const sizeBytes = Object.entries(annotations)
    .map(([key, value]) => Buffer.byteLength(key) + Buffer.byteLength(value))
    .reduce((sum, size) => sum + size, 0);
  return sizeBytes > annotationsLimitBytes ? [...errors, tooLong(field, annotationsLimitBytes)] : errors;
}

function validateOwnerReferences(owners: readonly OwnerReference[]): readonly FieldError[] {
  const field = "metadata.ownerReferences";
  const errors = owners.flatMap((owner, index) => [
    ...validateOwnerVersion(`${field}[${index}].apiVersion`, owner.apiVersion),
    ...(["kind", "name", "uid"] as const)
      .filter((key) => owner[key] === "")
      .map((key) => required(`${field}[${index}].${key}`, "must not be empty")),
  ]);
  const [first, second] = owners.filter((owner) => owner.controller === true);
  if (first === undefined || second === undefined) return errors;
  const pair = `${first.kind}/${first.name} and ${second.kind}/${second.name}`;
  const detail = `Only one reference can have Controller set to true. Found "true" in references for ${pair}`;
  return [...errors, invalidValue(field, owners, detail)];
}

function validateOwnerVersion(field: string, apiVersion: string): readonly FieldError[] {
  if (apiVersion === "") return [required(field, "must not be empty")];
  // At most one slash, and a version behind it. apimachinery's schema.ParseGroupVersion.
  return /^(?:[^/]*\/)?[^/]+$/.test(apiVersion)
    ? []
    : [invalidValue(field, apiVersion, "must be <group>/<version> or <version>")];
}

function validateFinalizers(finalizers: readonly string[], anyFinalizer: boolean): readonly FieldError[] {
  const field = "metadata.finalizers";
  const detail = "name is neither a standard finalizer name nor is it fully qualified";
  return [
    ...finalizers.flatMap((finalizer) => validateText(field, finalizer, qualifiedName)),
    ...finalizers.flatMap((finalizer, index) =>
      anyFinalizer || finalizer.includes("/") || standardFinalizers.includes(finalizer)
        ? []
        : [invalidValue(`${field}[${index}]`, finalizer, detail)],
    ),
  ];
}

function validateNoNewFinalizers(metadata: ObjectMeta, old: ObjectMeta): readonly FieldError[] {
  if (old.deletionTimestamp === undefined) return [];
  const added = (metadata.finalizers ?? []).filter((finalizer) => !(old.finalizers ?? []).includes(finalizer)).sort();
  if (added.length === 0) return [];
  const list = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(", ")}}`;
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
  return [forbiddenField("metadata.finalizers", detail)];
}
