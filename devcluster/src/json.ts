/** Any JSON value; objects are never changed in place. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object. A key whose value is undefined counts as absent. */
export type JsonObject = { readonly [key: string]: Json | undefined };

/** Whether the value is an object and not an array, null or a scalar. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether the value is an array of JSON values; whatever JSON.parse made qualifies. */
export function isJsonArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** Whether two values are the same JSON, whatever the order of keys. */
export function sameJson(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (isJsonArray(left)) {
    return (
      isJsonArray(right) &&
      left.length === right.length &&
      left.every((element, index) => sameJson(element, right[index]))
    );
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const keys = definedKeys(left);
  return keys.length === definedKeys(right).length && keys.every((key) => sameJson(left[key], right[key]));
}

/** The value at the path of keys, or undefined where a step is missing or no object. */
export function valueAt(object: Json | undefined, ...path: readonly string[]): Json | undefined {
  let current = object;
  for (const key of path) {
    if (!isJsonObject(current)) return undefined;
    current = current[key];
  }
  return current;
}

/** The string at the path of keys, or "" where there is none. */
export function stringAt(object: Json | undefined, ...path: readonly string[]): string {
  const value = valueAt(object, ...path);
  return typeof value === "string" ? value : "";
}

function definedKeys(object: JsonObject): readonly string[] {
  return Object.keys(object).filter((key) => object[key] !== undefined);
}
