import type { GroupResource } from "../api-error.ts";
import type { JsonObject } from "../json.ts";
import type { KubeObject, StringMap } from "../object.ts";
import type { FieldError } from "../validation/field-error.ts";
import type { TextRule } from "../validation/names.ts";

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly format?: "name";
  /** 1 is shown with `-o wide` only. */
  readonly priority?: 1;
}

export type Cell = string | number;

/** How a kind behaves on writes. Each hook gets and returns whole objects; a kind leaves out what it does not need. */
export interface Strategy<T extends KubeObject> {
  /** PUT on a name that does not exist creates. */
  readonly allowCreateOnUpdate?: boolean;
  /** PUT without a resourceVersion overwrites. */
  readonly allowUnconditionalUpdate?: boolean;
  /** DELETE answers with the object instead of a Status. */
  readonly returnsDeleted?: boolean;
  /** How long someone has to end the object, which is marked first even when that is no time at all. */
  gracePeriodSeconds?(object: T, requested: number | undefined): number;
  /** Whether something besides metadata.finalizers keeps an object that is being deleted. */
  holdsDeletion?(object: T): boolean;
  /** What else changes when the deletion of a held object begins. */
  markDeleting?(object: T): T;
  /** Why the object may never be deleted, undefined when it may. */
  refuseDeletion?(name: string): string | undefined;
  /** Fields that the API fills in on every decode. */
  applyDefaults?(object: T): T;
  /** What admission adds on creation. */
  admit?(object: T): T;
  /** Allocates what an object gets on creation; runs before validation. */
  allocate?(object: T): T;
  /** Allocates or releases on update; runs before prepareForUpdate. */
  reallocate?(object: T, old: T): T;
  prepareForCreate?(object: T, user: UserName): T;
  prepareForUpdate?(object: T, old: T): T;
  /** Errors of a new object. Metadata is checked for every kind alike. */
  validate?(object: T): readonly FieldError[];
  /** Warnings for the client about a valid object. */
  warn?(object: T): readonly string[];
  /** Errors of an object that replaces another. */
  validateUpdate?(object: T, old: T): readonly FieldError[];
}

/** Who asks, where a kind stores it. */
export interface UserName {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** `nodes/status` and the like: a view that may write a part of the object. */
export interface Subresource<T extends KubeObject> {
  readonly name: string;
  readonly verbs: readonly ("get" | "patch" | "update")[];
  prepareForUpdate(object: T, old: T): T;
  validateUpdate?(object: T, old: T): readonly FieldError[];
}

/** A stored kind: one row of the table of resources. Decoding by `type` guarantees that hooks see a T. */
export interface Resource<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  /** Plural, as in URLs. */
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  /** Struct in the type table. */
  readonly type: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Without deletecollection where the real server has none. */
  readonly deleteCollection?: false;
  readonly nameRule: TextRule;
  /** Finalizers need no domain, as everywhere else. */
  readonly anyFinalizer?: true;
  readonly strategy: Strategy<T>;
  readonly subresources: readonly Subresource<T>[];
  /** Objects are kept under another resource, of which this one is a view. */
  readonly view?: View;
  readonly columns: readonly Column[];
  /** Cells of one table row, one a column. `nowMs` is milliseconds since 1970. */
  row(object: T, nowMs: number): readonly Cell[];
  /** Fields that selectors may name besides metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[];
  fieldsOf?(object: T): StringMap;
}

/** Translation between a resource and the one that stores its objects (events.k8s.io shows core events). */
export interface View {
  readonly storedAs: GroupResource;
  /** Struct of the stored form in the type table. */
  readonly storedType: string;
  toStored(object: JsonObject): JsonObject;
  fromStored(object: JsonObject): JsonObject;
}

/** `<group>/<version>`, or the version alone for the core group. */
export function apiVersionOf(resource: { readonly group: string; readonly version: string }): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

export function groupResourceOf(resource: Pick<Resource, "group" | "name">): GroupResource {
  return { group: resource.group, resource: resource.name };
}

/** The kind that validation errors name: that of the stored form. */
export function groupKindOf(resource: Pick<Resource, "group" | "kind" | "view">): {
  readonly group: string;
  readonly kind: string;
} {
  return { group: resource.view?.storedAs.group ?? resource.group, kind: resource.kind };
}

/** The table of the store in which objects of the resource live. */
export function tableOf(resource: Pick<Resource, "group" | "name" | "view">): string {
  const stored = resource.view?.storedAs ?? groupResourceOf(resource);
  return `${stored.group}/${stored.resource}`;
}
