import { isRecord, type JsonRecord } from "./json.ts";

/**
 * Deep equality of JSON-like values. A property that is `undefined` equals one that is absent, as in JSON;
 * order of object keys does not matter, order of arrays does.
 */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  return isRecord(left) && isRecord(right) ? objectsEqual(left, right) : arraysEqual(left, right);
}

function arraysEqual(left: unknown, right: unknown): boolean {
  if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
  return left.every((item, index) => deepEqual(item, right[index]));
}

/** Makes nothing but the lists of keys: it is asked about each change of each object. */
function objectsEqual(left: JsonRecord, right: JsonRecord): boolean {
  return (
    Object.keys(left).every((key) => deepEqual(left[key], own(right, key))) &&
    Object.keys(right).every((key) => right[key] === undefined || Object.hasOwn(left, key))
  );
}

function own(object: JsonRecord, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
