import { type ApiError, badRequest, unclassified } from "../api-error.ts";
import { type Json, type JsonObject, isJsonArray, isJsonObject, sameJson } from "../json.ts";
import type { Field, Shape } from "../schema/schema.ts";
import { mergeOrder } from "./element-order.ts";
import { formatGo } from "./go-format.ts";

const directive = "$patch";
const deletePrefix = "$deleteFromPrimitiveList/";
const orderPrefix = "$setElementOrder/";
const retainKeys = "$retainKeys";

/**
 * Strategic merge patch as k8s.io/apimachinery/pkg/util/strategicpatch of v0.36 applies it: lists whose type names a merge key are joined
 * element by element, directives replace, delete and order. Throws ApiError on a malformed patch.
 */
export function applyStrategicMergePatch(shape: Shape, document: JsonObject, patch: Json): JsonObject {
  if (!isJsonObject(patch)) {
    throw badRequest("json: cannot unmarshal array into Go value of type map[string]interface {}");
  }
  return mergeObject(shape, document, patch);
}

function mergeObject(shape: Shape, original: JsonObject, patch: JsonObject): JsonObject {
  const marker = patch[directive];
  if (marker === "replace") return omit(patch, directive);
  if (marker === "delete") return {};
  if (marker !== undefined) throw unknownDirective(patch);
  const retained = retain(original, patch);
  const merged: Record<string, Json | undefined> = { ...retained };
  const rest: Record<string, Json | undefined> = { ...omit(patch, retainKeys) };
  applyElementOrders(shape, merged, rest);
  for (const [key, value] of Object.entries(rest)) {
    if (key === deletePrefix.slice(0, -1)) throw badRequest("invalid patch format of primitive list");
    if (key.startsWith(deletePrefix)) deleteFromList(merged, key.slice(deletePrefix.length), value);
    else if (value === null || value === undefined) delete merged[key];
    else setKey(merged, key, mergeValue(fieldShape(shape, key), merged[key], value));
  }
  return merged;
}

/** The value for a key after the patch; undefined removes it. */
function mergeValue(field: Member, original: Json | undefined, patch: Json): Json | undefined {
  if (isJsonObject(original) && isJsonObject(patch)) return mergeObject(field.shape, original, patch);
  if (isJsonArray(original) && isJsonArray(patch)) {
    return field.merges ? mergeList(field, original, patch) : patch;
  }
  return clean(patch);
}

interface Member {
  readonly shape: Shape;
  readonly merges: boolean;
  readonly mergeKey: string | undefined;
}

function fieldShape(shape: Shape, key: string): Member {
  const field: Field | undefined = shape.kind === "struct" ? shape.fields().get(key) : undefined;
  if (field !== undefined) {
    return { shape: field.shape, merges: field.spec.merge === true, mergeKey: field.spec.mergeKey };
  }
  const inner: Shape = shape.kind === "map" ? shape.value : { kind: "scalar", name: "Raw" };
  return { shape: inner, merges: false, mergeKey: undefined };
}

function mergeList(field: Member, original: readonly Json[], patch: readonly Json[]): readonly Json[] {
  if (original.length === 0 && patch.length === 0) return original;
  if (![...original, ...patch].some((element) => isJsonObject(element))) {
    return mergeOrder({ merged: unique([...original, ...patch]), patchOrder: patch, serverOrder: original });
  }
  const { mergeKey } = field;
  if (mergeKey === undefined) throw unclassified("cannot merge lists without merge key");
  const { kept, additions } = applyListDirectives(original, patch, mergeKey);
  const element: Shape = field.shape.kind === "list" ? field.shape.element : field.shape;
  const merged = additions.reduce<readonly Json[]>(
    (list, addition) => mergeElement(element, list, addition, mergeKey),
    kept,
  );
  return mergeOrder({ merged, patchOrder: additions, serverOrder: kept, mergeKey });
}

function mergeElement(shape: Shape, list: readonly Json[], addition: JsonObject, mergeKey: string): readonly Json[] {
  const index = list.findIndex((element) => isJsonObject(element) && sameJson(element[mergeKey], addition[mergeKey]));
  const existing = list[index];
  return isJsonObject(existing) ? list.with(index, mergeObject(shape, existing, addition)) : [...list, addition];
}

interface ListChange {
  readonly kept: readonly Json[];
  readonly additions: readonly JsonObject[];
}

function applyListDirectives(original: readonly Json[], patch: readonly Json[], mergeKey: string): ListChange {
  const additions: JsonObject[] = [];
  let kept = original;
  let replaces = false;
  for (const element of patch) {
    if (!isJsonObject(element)) throw unclassified("list elements in the patch must all be objects");
    const marker = element[directive];
    if (marker === "replace") replaces = true;
    else if (marker !== undefined && marker !== "delete") throw unknownDirective(element);
    else if (element[mergeKey] === undefined) throw noMergeKey(element, mergeKey);
    else if (marker === undefined) additions.push(element);
    else kept = kept.filter((item) => !isJsonObject(item) || !sameJson(item[mergeKey], element[mergeKey]));
  }
  return replaces ? { kept: additions, additions: [] } : { kept, additions };
}

/** Handles `$setElementOrder/x` together with the patch of x, which is then done. */
function applyElementOrders(
  shape: Shape,
  merged: Record<string, Json | undefined>,
  rest: Record<string, Json | undefined>,
): void {
  for (const [key, order] of Object.entries(rest)) {
    if (!key.startsWith(orderPrefix)) continue;
    delete rest[key];
    if (!isJsonArray(order)) throw badRequest("invalid patch format of setElementOrder list");
    const name = key.slice(orderPrefix.length);
    const field = fieldShape(shape, name);
    const original = listOf(merged[name]);
    const patch = listOf(rest[name]);
    if (original === undefined && patch === undefined) continue;
    if (patch !== undefined) checkOrder(patch, order, field.mergeKey);
    const list = joinForOrder(field, original, patch);
    merged[name] = mergeOrder({
      merged: list,
      patchOrder: order,
      serverOrder: original ?? [],
      ...(field.mergeKey === undefined ? {} : { mergeKey: field.mergeKey }),
    });
    delete rest[name];
  }
}

/** The patch may not add what the order does not name, nor in another order. */
function checkOrder(patch: readonly Json[], order: readonly Json[], mergeKey: string | undefined): void {
  const identity = (element: Json): Json | undefined =>
    mergeKey !== undefined && isJsonObject(element) ? element[mergeKey] : element;
  const added = patch.filter((element) => !isJsonObject(element) || element[directive] === undefined);
  let next = 0;
  for (const element of order) {
    if (next < added.length && sameJson(identity(added[next] ?? null), identity(element))) next += 1;
  }
  if (next === added.length || order.length === 0) return;
  const lists = `${formatGo(patch)}\n doesn't match $setElementOrder list:\n${formatGo(order)}`;
  throw unclassified(`The order in patch list:\n${lists}\n`);
}

function joinForOrder(
  field: Member,
  original: readonly Json[] | undefined,
  patch: readonly Json[] | undefined,
): readonly Json[] {
  if (patch === undefined) return original ?? [];
  if (original === undefined) return cleanList(patch);
  return field.merges ? mergeList(field, original, patch) : patch;
}

function deleteFromList(merged: Record<string, Json | undefined>, key: string, values: Json | undefined): void {
  const list = merged[key];
  if (!isJsonArray(values)) throw badRequest("invalid patch format of primitive list");
  if (isJsonArray(list)) merged[key] = list.filter((element) => !values.some((value) => sameJson(element, value)));
}

function retain(original: JsonObject, patch: JsonObject): JsonObject {
  const keys = patch[retainKeys];
  if (keys === undefined) return original;
  if (!isJsonArray(keys)) throw badRequest("invalid patch format of retainKeys");
  const strangers = Object.entries(patch).filter(
    ([key, value]) => !key.startsWith("$") && value !== null && !keys.includes(key),
  );
  if (strangers.length > 0) throw badRequest("invalid patch format of retainKeys");
  return Object.fromEntries(Object.entries(original).filter(([key]) => keys.includes(key)));
}

/** What a patch value becomes where nothing was: without nulls and directives. */
function clean(value: Json): Json | undefined {
  if (isJsonArray(value)) return cleanList(value);
  if (!isJsonObject(value)) return value;
  if (value[directive] !== undefined) return undefined;
  const cleaned: Record<string, Json> = {};
  for (const [key, inner] of Object.entries(value)) {
    const kept = inner === null || inner === undefined ? undefined : clean(inner);
    if (kept !== undefined) cleaned[key] = kept;
  }
  return cleaned;
}

function cleanList(list: readonly Json[]): readonly Json[] {
  return list.flatMap((element) => {
    const kept = clean(element);
    return kept === undefined ? [] : [kept];
  });
}

function setKey(target: Record<string, Json | undefined>, key: string, value: Json | undefined): void {
  if (value === undefined) delete target[key];
  else target[key] = value;
}

function listOf(value: Json | undefined): readonly Json[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isJsonArray(value)) throw badRequest("expected a list for an element order");
  return value;
}

function unique(values: readonly Json[]): readonly Json[] {
  return [...new Set(values)];
}

function omit(object: JsonObject, key: string): JsonObject {
  const { [key]: _removed, ...rest } = object;
  return rest;
}

function unknownDirective(element: JsonObject): ApiError {
  return unclassified(`unknown patch type: ${formatGo(element[directive])} in map: ${formatGo(element)}`);
}

function noMergeKey(element: JsonObject, mergeKey: string): ApiError {
  return unclassified(`map: ${formatGo(element)} does not contain declared merge key: ${mergeKey}`);
}
