import { alreadyExists, badRequest, forbidden, invalid, notFound, unclassified } from "../api-error.ts";
import type { Json } from "../json.ts";
import { type KubeObject, nameOf, withMetadata } from "../object.ts";
import { type Resource, groupKindOf, groupResourceOf, tableOf } from "../resources/resource.ts";
import { formatTime } from "../schema/time.ts";
import { validateMetadata } from "../validation/metadata.ts";
import { canonical, decodeObject } from "./codec.ts";
import { type Deps, type WriteOptions, keyOf } from "./context.ts";
import { reportUnknownFields } from "./unknown-fields.ts";

/** Longest part of a generated name that the client chooses (upstream maxGeneratedNameLength). */
const maxNamePrefix = 58;

/** POST: decodes, fills in, checks and stores a new object. */
export function createObject(
  deps: Deps,
  resource: Resource,
  namespace: string,
  body: Json,
  options: WriteOptions,
): KubeObject {
  const { object, unknownFields } = decodeObject(deps.schema, resource, body);
  reportUnknownFields(unknownFields, resource, options);
  const placed = inNamespace(object, namespace, resource);
  if (placed.metadata.resourceVersion !== undefined) {
    throw unclassified("resourceVersion should not be set on objects to be created");
  }
  return insertObject(deps, resource, { namespace, object: placed }, options);
}

/** Puts the object into the namespace of the request; throws ApiError 400 when it names another one. */
export function inNamespace(object: KubeObject, namespace: string, resource: Resource): KubeObject {
  // On a cluster-wide kind it means nothing.
  if (!resource.namespaced) return withMetadata(object, { namespace: undefined });
  const named = object.metadata.namespace ?? "";
  if (named !== "" && named !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  return withMetadata(object, { namespace });
}

/** Stores a decoded object as a new one. */
export function insertObject(
  deps: Deps,
  resource: Resource,
  request: { readonly namespace: string; readonly object: KubeObject },
  options: WriteOptions,
): KubeObject {
  const { strategy } = resource;
  const { namespace } = request;
  checkNamespace(deps, resource, namespace, request.object);
  const admitted = strategy.admit?.(request.object) ?? request.object;
  const named = withSystemFields(deps, admitted);
  const allocated = strategy.allocate?.(named) ?? named;
  const prepared = strategy.prepareForCreate?.(allocated, options.user) ?? allocated;
  const object = canonical(deps.schema, resource, prepared);
  const errors = [...validateMetadata(object, resource), ...(strategy.validate?.(object) ?? [])];
  if (errors.length > 0) throw invalid(groupKindOf(resource), nameOf(object), errors);
  strategy.warn?.(object).forEach(options.warn);
  const key = keyOf({ namespace, name: nameOf(object) });
  const existing = deps.store.get(tableOf(resource), key);
  if (existing !== undefined) {
    const beingDeleted = existing.metadata.deletionTimestamp !== undefined;
    throw alreadyExists(groupResourceOf(resource), nameOf(object), beingDeleted);
  }
  return options.dryRun ? object : deps.store.put(tableOf(resource), key, object);
}

function withSystemFields(deps: Deps, object: KubeObject): KubeObject {
  const { name = "", generateName = "" } = object.metadata;
  const generated =
    name === "" && generateName !== "" ? generateName.slice(0, maxNamePrefix) + deps.nameSuffix() : name;
  return withMetadata(object, {
    name: generated,
    uid: deps.newUid(),
    creationTimestamp: formatTime(deps.nowMs()),
    resourceVersion: undefined,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
  });
}

/** Admission plugin NamespaceLifecycle: a namespace has to exist and to stay for new objects to appear in it. */
function checkNamespace(deps: Deps, resource: Resource, namespace: string, object: KubeObject): void {
  if (!resource.namespaced) return;
  const found = deps.store.get("/namespaces", namespace);
  if (found === undefined) throw notFound({ group: "", resource: "namespaces" }, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const name = nameOf(object) || (object.metadata.generateName ?? "");
  throw forbidden(groupResourceOf(resource), name, why, [
    {
      reason: "NamespaceTerminating",
      message: `namespace ${namespace} is being terminated`,
      field: "metadata.namespace",
    },
  ]);
}
