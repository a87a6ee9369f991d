import { type FieldChange, TIME_FIELD } from "../observe/planned-write.ts";
import { deepEqual } from "../util/equal.ts";
import { isRecord, type JsonRecord } from "../util/json.ts";
import type { Patch } from "./client.ts";

/** Of metadata: which object and version are meant. They change nothing. */
const IDENTITY: ReadonlySet<string> = new Set(["metadata.uid", "metadata.resourceVersion"]);

/** What identifies an item of these lists, by their path (`patchMergeKey` in k8s.io/api v0.36.3). Lists without are replaced. */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  "status.addresses": "type",
  "status.conditions": "type",
};

/** Lists of texts to which a strategic merge patch adds. */
const MERGED_SETS: ReadonlySet<string> = new Set(["metadata.finalizers", "spec.podCIDRs"]);

/** What a patch would change of an object as the server has it now, as far as this program makes patches. */
export function patchChanges(object: JsonRecord, patch: Patch): readonly FieldChange[] {
  if (patch.kind === "json") {
    return patch.body.map((step) => ({
      path: step.path,
      before: undefined,
      after: "value" in step ? step.value : undefined,
    }));
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

/** A list whose items are told apart by one of their fields. */
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
