import { badRequest, conflict, invalid, notFound, staleObject } from "../api-error.ts";
import { type Json, sameJson } from "../json.ts";
import { type KubeObject, nameOf, withMetadata } from "../object.ts";
import { type Resource, type Subresource, groupKindOf, groupResourceOf, tableOf } from "../resources/resource.ts";
import { type FieldError, invalidValue } from "../validation/field-error.ts";
import { validateMetadataUpdate } from "../validation/metadata.ts";
import { canonical, decodeObject } from "./codec.ts";
import { type Deps, type Target, type WriteOptions, keyOf } from "./context.ts";
import { inNamespace, insertObject } from "./create.ts";
import { reportUnknownFields } from "./unknown-fields.ts";

export interface Updated {
  readonly object: KubeObject;
  /** PUT made a new object. */
  readonly created: boolean;
}

/** PUT: replaces an object, or the part of it that a subresource writes. */
export function replaceObject(
  deps: Deps,
  resource: Resource,
  subresource: Subresource<KubeObject> | undefined,
  target: Target,
  body: Json,
  options: WriteOptions,
): Updated {
  const { object, unknownFields } = decodeObject(deps.schema, resource, body);
  reportUnknownFields(unknownFields, resource, options);
  const placed = inNamespace(object, target.namespace, resource);
  checkName(placed, target.name);
  const old = deps.store.get(tableOf(resource), keyOf(target));
  if (old === undefined) {
    if (resource.strategy.allowCreateOnUpdate !== true || subresource !== undefined) {
      throw notFound(groupResourceOf(resource), target.name);
    }
    checkUid(resource, placed, undefined, target);
    return {
      object: insertObject(deps, resource, { namespace: target.namespace, object: placed }, options),
      created: true,
    };
  }
  checkUid(resource, placed, old, target);
  return {
    object: updateObject(deps, resource, subresource, target, { object: placed, old }, options),
    created: false,
  };
}

/** Stores the change of an object after every check; returns what the client sees. */
export function updateObject(
  deps: Deps,
  resource: Resource,
  subresource: Subresource<KubeObject> | undefined,
  target: Target,
  change: { readonly object: KubeObject; readonly old: KubeObject },
  options: WriteOptions,
): KubeObject {
  const { old } = change;
  checkVersion(resource, change.object, old, target);
  const object = prepare(deps, resource, subresource, change);
  const errors = validateChange(resource, subresource, object, old);
  if (errors.length > 0) throw invalid(groupKindOf(resource), target.name, errors);
  if (subresource === undefined) resource.strategy.warn?.(object).forEach(options.warn);
  const table = tableOf(resource);
  if (finishesDeletion(resource, object, old)) {
    if (!options.dryRun) deps.store.delete(table, keyOf(target));
    return object;
  }
  if (options.dryRun || sameJson(object, old)) return object;
  return deps.store.put(table, keyOf(target), object);
}

/** Throws ApiError 400 when the object's name is not the one in the URL. */
export function checkName(object: KubeObject, name: string): void {
  const given = nameOf(object);
  if (given === name) return;
  throw badRequest(
    given === ""
      ? `the name of the object (${name} based on URL) was undeterminable: name must be provided`
      : `the name of the object (${given}) does not match the name on the URL (${name})`,
  );
}

function prepare(
  deps: Deps,
  resource: Resource,
  subresource: Subresource<KubeObject> | undefined,
  { object, old }: { readonly object: KubeObject; readonly old: KubeObject },
): KubeObject {
  const { strategy } = resource;
  const reallocated = subresource === undefined ? (strategy.reallocate?.(object, old) ?? object) : object;
  const carried = withMetadata(reallocated, { generation: old.metadata.generation });
  const prepared = (subresource ?? strategy).prepareForUpdate?.(carried, old) ?? carried;
  return canonical(
    deps.schema,
    resource,
    withMetadata(prepared, {
      uid: prepared.metadata.uid ?? old.metadata.uid,
      resourceVersion: old.metadata.resourceVersion,
      creationTimestamp: old.metadata.creationTimestamp,
      // A client cannot stop a deletion by writing the object; that it cannot start one either is checked later.
      deletionTimestamp: old.metadata.deletionTimestamp ?? prepared.metadata.deletionTimestamp,
      deletionGracePeriodSeconds:
        prepared.metadata.deletionGracePeriodSeconds ?? old.metadata.deletionGracePeriodSeconds,
    }),
  );
}

function validateChange(
  resource: Resource,
  subresource: Subresource<KubeObject> | undefined,
  object: KubeObject,
  old: KubeObject,
): readonly FieldError[] {
  const own = subresource ?? resource.strategy;
  return [...validateMetadataUpdate(object, old, resource), ...(own.validateUpdate?.(object, old) ?? [])];
}

function checkVersion(resource: Resource, object: KubeObject, old: KubeObject, target: Target): void {
  const given = object.metadata.resourceVersion ?? "";
  if (given === old.metadata.resourceVersion) return;
  if (given !== "" && given !== "0") throw conflict(groupResourceOf(resource), target.name, staleObject);
  if (resource.strategy.allowUnconditionalUpdate === true) return;
  throw invalid({ group: resource.group, kind: resource.name }, target.name, [
    invalidValue("metadata.resourceVersion", 0, "must be specified for an update"),
  ]);
}

function checkUid(resource: Resource, object: KubeObject, old: KubeObject | undefined, target: Target): void {
  const given = object.metadata.uid ?? "";
  const actual = old?.metadata.uid ?? "";
  if (given === "" || given === actual) return;
  const path = `/registry/${resource.name}/${keyOf(target)}`;
  const what = `Precondition failed: UID in precondition: ${given}, UID in object meta: ${actual}`;
  const why = `StorageError: invalid object, Code: 4, Key: ${path}, ResourceVersion: 0, AdditionalErrorMsg: ${what}`;
  throw conflict(groupResourceOf(resource), target.name, why);
}

/** Whether the last thing that kept an object being deleted is gone. */
function finishesDeletion(resource: Resource, object: KubeObject, old: KubeObject): boolean {
  if (old.metadata.deletionTimestamp === undefined || (object.metadata.finalizers?.length ?? 0) > 0) return false;
  if (resource.strategy.holdsDeletion?.(object) === true) return false;
  return (old.metadata.deletionGracePeriodSeconds ?? 0) === 0;
}
