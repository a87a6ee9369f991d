import { type ApiError, conflict, forbidden, invalid, notFound } from "../api-error.ts";
import type { JsonObject } from "../json.ts";
import { type KubeObject, nameOf, withMetadata } from "../object.ts";
import { type Resource, groupResourceOf, tableOf } from "../resources/resource.ts";
import { formatTime } from "../schema/time.ts";
import { invalidValue, notSupported } from "../validation/field-error.ts";
import { type Deps, type Target, keyOf } from "./context.ts";

/** What a client may say about a deletion. */
export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: string | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/** How a deletion ended. */
export type Deleted =
  /** The object is gone; `object` is its last state. */
  | { readonly kind: "gone"; readonly object: KubeObject }
  /** The object waits for its finalizers or for its grace period. */
  | { readonly kind: "pending"; readonly object: KubeObject };

const policies = ["Foreground", "Background", "Orphan"];
const orphan = "orphan";
const foreground = "foregroundDeletion";

/** DELETE of one object. */
export function deleteObject(deps: Deps, resource: Resource, target: Target, options: DeleteOptions): Deleted {
  const refusal = resource.strategy.refuseDeletion?.(target.name);
  if (refusal !== undefined) throw forbidden(groupResourceOf(resource), target.name, refusal);
  const stored = deps.store.get(tableOf(resource), keyOf(target));
  if (stored === undefined) throw notFound(groupResourceOf(resource), target.name);
  checkOptions(options);
  checkPreconditions(resource, stored, options);
  if (resource.strategy.holdsDeletion?.(stored) === true) return hold(deps, resource, target, stored, options);
  const graceSeconds = graceOf(resource, stored, options);
  if (graceSeconds === "already") return { kind: "pending", object: stored };
  const marked = withPolicyFinalizers(stored, options);
  const waits = (marked.metadata.finalizers?.length ?? 0) > 0 || (graceSeconds ?? 0) > 0;
  if (!waits && graceSeconds === undefined) return remove(deps, resource, target, stored, options);
  const pending = store(deps, resource, target, markDying(deps, marked, graceSeconds), stored, options);
  return waits ? pending : remove(deps, resource, target, pending.object, options);
}

function markDying(deps: Deps, object: KubeObject, graceSeconds: number | undefined): KubeObject {
  const { deletionTimestamp, generation } = object.metadata;
  // Only a shorter grace period changes an object that is already being deleted.
  if (deletionTimestamp !== undefined && graceSeconds === undefined) return object;
  return withMetadata(object, {
    deletionTimestamp: formatTime(deps.nowMs() + (graceSeconds ?? 0) * 1000),
    deletionGracePeriodSeconds: graceSeconds ?? 0,
    ...(generation === undefined || deletionTimestamp !== undefined ? {} : { generation: generation + 1 }),
  });
}

/** The Status that a finished deletion is answered with. */
export function deletedStatus(resource: Resource, object: KubeObject): JsonObject {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name: nameOf(object),
      ...(resource.group === "" ? {} : { group: resource.group }),
      kind: resource.name,
      uid: object.metadata.uid ?? "",
    },
  };
}

/** Seconds to wait; undefined for none; "already" when an earlier deletion is still waiting and this one changes nothing. */
function graceOf(resource: Resource, object: KubeObject, options: DeleteOptions): number | "already" | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds: pending = 0 } = object.metadata;
  const requested = options.gracePeriodSeconds;
  const asked = requested !== undefined && requested < 0 ? 1 : requested;
  if (deletionTimestamp === undefined) return resource.strategy.gracePeriodSeconds?.(object, asked);
  if (pending === 0) return undefined;
  return asked === undefined || asked >= pending ? "already" : asked;
}

function withPolicyFinalizers(object: KubeObject, options: DeleteOptions): KubeObject {
  const before = object.metadata.finalizers ?? [];
  const others = before.filter((finalizer) => finalizer !== orphan && finalizer !== foreground);
  const policy = policyOf(options);
  const kept = policy === undefined ? before : policy === "" ? others : [...others, policy];
  return withMetadata(object, { finalizers: kept.length === 0 ? undefined : kept });
}

/** The finalizer that the policy asks for, "" for background deletion, undefined when the object decides. */
function policyOf({ orphanDependents, propagationPolicy }: DeleteOptions): string | undefined {
  if (orphanDependents !== undefined) return orphanDependents ? orphan : "";
  if (propagationPolicy === "Orphan") return orphan;
  if (propagationPolicy === "Foreground") return foreground;
  return propagationPolicy === "Background" ? "" : undefined;
}

/** Only marks a namespace for deletion: the client that empties it removes its finalizer. */
function hold(deps: Deps, resource: Resource, target: Target, stored: KubeObject, options: DeleteOptions): Deleted {
  if (stored.metadata.deletionTimestamp !== undefined) return { kind: "pending", object: stored };
  const dying = withMetadata(stored, { deletionTimestamp: formatTime(deps.nowMs()) });
  return store(deps, resource, target, resource.strategy.markDeleting?.(dying) ?? dying, stored, options);
}

function store(
  deps: Deps,
  resource: Resource,
  target: Target,
  object: KubeObject,
  stored: KubeObject,
  options: DeleteOptions,
): Deleted {
  const unchanged = JSON.stringify(object) === JSON.stringify(stored);
  if (options.dryRun || unchanged) return { kind: "pending", object };
  return { kind: "pending", object: deps.store.put(tableOf(resource), keyOf(target), object) };
}

function remove(deps: Deps, resource: Resource, target: Target, stored: KubeObject, options: DeleteOptions): Deleted {
  const removed = options.dryRun ? stored : deps.store.delete(tableOf(resource), keyOf(target));
  return { kind: "gone", object: removed ?? stored };
}

function checkOptions(options: DeleteOptions): void {
  const policy = options.propagationPolicy;
  if (policy === undefined) return;
  const field = "propagationPolicy";
  const both = "orphanDependents and deletionPropagation cannot be both set";
  const errors = [
    ...(options.orphanDependents === undefined ? [] : [invalidValue(field, policy, both)]),
    ...(policies.includes(policy) ? [] : [notSupported(field, policy, [...policies, "nil"])]),
  ];
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", errors);
}

function checkPreconditions(resource: Resource, object: KubeObject, { uid, resourceVersion }: DeleteOptions): void {
  const { metadata } = object;
  const about = { group: resource.group, resource: resource.kind };
  if (uid !== undefined && uid !== metadata.uid) throw mismatch(about, object, "UID", uid, metadata.uid);
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw mismatch(about, object, "ResourceVersion", resourceVersion, metadata.resourceVersion);
  }
}

function mismatch(
  about: { readonly group: string; readonly resource: string },
  object: KubeObject,
  what: "UID" | "ResourceVersion",
  asked: string,
  actual: string | undefined,
): ApiError {
  const explanation =
    what === "UID" ? "The object might have been deleted and then recreated" : "The object might have been modified";
  const why = `the ${what} in the precondition (${asked}) does not match the ${what} in record (${actual ?? ""}). ${explanation}`;
  return conflict(about, nameOf(object), why);
}
