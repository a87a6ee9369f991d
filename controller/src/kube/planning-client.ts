import type { ObjectName } from "../api/meta.ts";
import { type FieldChange, type PlannedWrite, TIME_FIELD } from "../observe/plans.ts";
import type { Work } from "../observe/work.ts";
import type { WriteFilter } from "../observe/write-filter.ts";
import { deepEqual } from "../util/equal.ts";
import { type JsonRecord, isRecord, recordField, stringField } from "../util/json.ts";
import type { CallOptions, DeleteOptions, JsonObject, KubeClient, ListOptions, Patch, WriteOptions } from "./client.ts";
import { ApiError, type ApiErrorCode } from "./errors.ts";
import type { DecodedList, Resource } from "./resources/codec.ts";

/** Reads as ever. A write of what is observed is compared with what the server has, noted, and not made. */
export class PlanningKubeClient implements KubeClient {
  readonly #client: KubeClient;
  readonly #filter: WriteFilter;

  constructor(client: KubeClient, filter: WriteFilter) {
    this.#client = client;
    this.#filter = filter;
  }

  get<T>(resource: Resource<T>, name: ObjectName, options: CallOptions): Promise<T> {
    return this.#client.get(resource, name, options);
  }

  list<T>(resource: Resource<T>, options: ListOptions): Promise<DecodedList<T>> {
    return this.#client.list(resource, options);
  }

  async create<T>(
    resource: Resource<T>,
    namespace: string | undefined,
    body: JsonObject,
    options: WriteOptions,
  ): Promise<T> {
    const work = this.#filter.planner(`POST ${resource.plural}`);
    if (work === undefined) return this.#client.create(resource, namespace, body, options);
    const name = stringField(recordField(body, "metadata"), "name");
    return stop(work, written("create", resource, { ...(namespace === undefined ? {} : { namespace }), name }));
  }

  async update<T>(resource: Resource<T>, name: ObjectName, body: JsonRecord, options: WriteOptions): Promise<T> {
    const work = this.#filter.planner(`PUT ${resource.plural} ${name.name}`);
    if (work === undefined) return this.#client.update(resource, name, body, options);
    return stop(work, written("update", resource, name, options.subresource));
  }

  async patch<T>(resource: Resource<T>, name: ObjectName, patch: Patch, options: WriteOptions): Promise<T> {
    const work = this.#filter.planner(`PATCH ${resource.plural} ${name.name}`);
    if (work === undefined) return this.#client.patch(resource, name, patch, options);
    const present = await this.#present(resource, name, options);
    rejectOutdated(resource, name, present, patch);
    const changes = patchChanges(present, patch);
    // Another client has written it since: there is nothing to do.
    if (changes.length === 0) return resource.fromJson(present);
    const write = written("patch", resource, name, options.subresource, changes);
    if (options.isFirstOfMore !== true) return stop(work, write);
    work.note(write);
    return resource.fromJson(present);
  }

  async delete(resource: Resource<unknown>, name: ObjectName, options: DeleteOptions): Promise<void> {
    const work = this.#filter.planner(`DELETE ${resource.plural} ${name.name}`);
    if (work === undefined) return this.#client.delete(resource, name, options);
    stop(work, written("delete", resource, name));
  }

  /** Lists instead of get: a controller that watches a kind has permission to list it. */
  async #present(
    resource: Resource<unknown>,
    { namespace, name }: ObjectName,
    { signal, timeoutMs }: CallOptions,
  ): Promise<JsonRecord> {
    const { items } = await this.#client.list(asJson(resource), {
      signal,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(namespace === undefined ? {} : { namespace }),
      fieldSelector: `metadata.name=${name}`,
    });
    const [present] = items;
    if (present !== undefined) return present;
    throw rejection("notFound", 404, "NotFound", `PATCH ${resource.plural} ${name}: not found`);
  }
}

function stop(work: Work, write: PlannedWrite): never {
  work.note(write);
  return work.stop();
}

function written(
  verb: "create" | "update" | "patch" | "delete",
  { plural }: Resource<unknown>,
  { namespace, name }: ObjectName,
  subresource?: string,
  fields: readonly FieldChange[] = [],
): PlannedWrite {
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  const object = namespace === undefined ? name : `${namespace}/${name}`;
  return { target: "kubernetes", verb, resource, object, fields };
}

/** The object with all fields, also unknown ones. */
function asJson({ group, version, kind, plural, namespaced }: Resource<unknown>): Resource<JsonRecord> {
  return { group, version, kind, plural, namespaced, fromJson: (object) => object };
}

/** Like the server, rejects a patch of another object or another version. */
function rejectOutdated(resource: Resource<unknown>, { name }: ObjectName, present: JsonRecord, { body }: Patch): void {
  const wanted = isRecord(body) && isRecord(body["metadata"]) ? body["metadata"] : {};
  const metadata = isRecord(present["metadata"]) ? present["metadata"] : {};
  const isOutdated = ["uid", "resourceVersion"].some((key) => key in wanted && wanted[key] !== metadata[key]);
  if (!isOutdated) return;
  const message = `PATCH ${resource.plural} ${name}: the object has changed since it was read`;
  throw rejection("conflict", 409, "Conflict", message);
}

function rejection(code: ApiErrorCode, httpStatus: number, reason: string, message: string): ApiError {
  return new ApiError({ code, message, httpStatus, reason, retryAfterMs: undefined });
}

/** Preconditions: they change nothing. */
const IDENTITY: ReadonlySet<string> = new Set(["metadata.uid", "metadata.resourceVersion"]);

/** Key that identifies the items of these lists (`patchMergeKey` in k8s.io/api v0.36.3). Other lists are replaced. */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  "status.addresses": "type",
  "status.conditions": "type",
};

/** Lists of strings that a strategic merge patch extends. */
const MERGED_SETS: ReadonlySet<string> = new Set(["metadata.finalizers", "spec.podCIDRs"]);

/** The changes of a patch to the server's object, for the patches that this program creates. */
export function patchChanges(object: JsonRecord, patch: Patch): readonly FieldChange[] {
  if (patch.kind === "json") {
    return patch.body.map((step) => {
      return { path: step.path, before: undefined, after: "value" in step ? step.value : undefined };
    });
  }
  const changes: FieldChange[] = [];
  compareObject({ changes, isStrategic: patch.kind === "strategic" }, "", object, patch.body);
  return changes;
}

interface Comparison {
  readonly changes: FieldChange[];
  readonly isStrategic: boolean;
}

function compareObject(comparison: Comparison, path: string, before: JsonRecord, patch: JsonRecord): void {
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined || key.startsWith("$setElementOrder/")) continue;
    const removed = /^\$deleteFromPrimitiveList\/(.+)$/.exec(key)?.[1];
    if (removed !== undefined) compareRemovals(comparison, join(path, removed), before[removed], value);
    else compareField(comparison, join(path, key), before[key], value);
  }
}

function compareField(comparison: Comparison, path: string, before: unknown, value: unknown): void {
  const { changes, isStrategic } = comparison;
  if (IDENTITY.has(path)) return;
  if (value === null) {
    if (before !== undefined) changes.push({ path, before, after: undefined });
  } else if (isRecord(value)) {
    if (isRecord(before)) compareObject(comparison, path, before, value);
    else changes.push({ path, before, after: value });
  } else if (isStrategic && Array.isArray(value) && MERGED_SETS.has(path)) {
    for (const item of value)
      if (!listOf(before).includes(item))
        changes.push({ path: `${path}[${JSON.stringify(item)}]`, before: undefined, after: item });
  } else if (isStrategic && Array.isArray(value) && MERGE_KEYS[path] !== undefined) {
    compareItems(changes, path, MERGE_KEYS[path], listOf(before), value);
  } else if (!deepEqual(before, value)) {
    changes.push({ path, before, after: value });
  }
}

/** A list whose items have a merge key. */
function compareItems(
  changes: FieldChange[],
  path: string,
  mergeKey: string,
  before: readonly unknown[],
  patch: readonly unknown[],
): void {
  const items = patch.filter(isRecord);
  const wanted = items.filter((item) => !("$patch" in item));
  if (items.some((item) => item["$patch"] === "replace")) {
    if (!deepEqual(before, wanted)) changes.push({ path, before, after: wanted });
    return;
  }
  const present = (item: JsonRecord): JsonRecord | undefined =>
    before.filter(isRecord).find((candidate) => candidate[mergeKey] === item[mergeKey]);
  for (const item of items) {
    const old = present(item);
    const place = `${path}[${JSON.stringify(item[mergeKey])}]`;
    if (item["$patch"] === "delete") {
      if (old !== undefined) changes.push({ path: place, before: old, after: undefined });
    } else if (old === undefined || Object.entries(item).some(([key, value]) => isNew(key, old[key], value))) {
      changes.push({ path: place, before: old, after: item });
    }
  }
}

function isNew(key: string, before: unknown, after: unknown): boolean {
  return !TIME_FIELD.test(key) && after !== undefined && !deepEqual(before, after);
}

function compareRemovals({ changes }: Comparison, path: string, before: unknown, removed: unknown): void {
  for (const item of listOf(removed)) {
    if (listOf(before).includes(item)) {
      changes.push({ path: `${path}[${JSON.stringify(item)}]`, before: item, after: undefined });
    }
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function join(path: string, key: string): string {
  if (path === "") return key;
  return /^[A-Za-z0-9_$]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}
