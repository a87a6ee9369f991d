import { type JsonObject, isJsonObject } from "./json.ts";

export type OwnerReference = Readonly<{
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean | undefined;
  blockOwnerDeletion?: boolean | undefined;
}>;

export type ObjectMeta = Readonly<{
  name?: string | undefined;
  generateName?: string | undefined;
  namespace?: string | undefined;
  uid?: string | undefined;
  resourceVersion?: string | undefined;
  generation?: number | undefined;
  creationTimestamp?: string | undefined;
  deletionTimestamp?: string | undefined;
  deletionGracePeriodSeconds?: number | undefined;
  labels?: StringMap | undefined;
  annotations?: StringMap | undefined;
  ownerReferences?: readonly OwnerReference[] | undefined;
  finalizers?: readonly string[] | undefined;
}>;

export type StringMap = Readonly<Record<string, string>>;

/** Any object of the API. Stored objects carry no kind and apiVersion: those belong to the representation asked for. */
export type KubeObject = Readonly<{ metadata: ObjectMeta }>;

/** Whether decoded JSON is an object of the API; its type table entry has already made sure of the fields. */
export function isKubeObject(value: unknown): value is KubeObject & JsonObject {
  return isJsonObject(value) && isJsonObject(value["metadata"]);
}

/** The object's name, "" while it has none. */
export function nameOf(object: KubeObject): string {
  return object.metadata.name ?? "";
}

/** The object with other metadata fields; undefined clears one. */
export function withMetadata<T extends KubeObject>(object: T, change: Partial<ObjectMeta>): T {
  return { ...object, metadata: { ...object.metadata, ...change } };
}
