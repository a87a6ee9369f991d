import { isRecord, type JsonRecord } from "./json.ts";

/** Deep equality of JSON-like values. An `undefined` property equals an absent one; the order of keys does not matter. */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  return isRecord(left) && isRecord(right) ? objectsEqual(left, right) : arraysEqual(left, right);
}

function arraysEqual(left: unknown, right: unknown): boolean {
  if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
  return left.every((item, index) => deepEqual(item, right[index]));
}

/** Allocates only the lists of keys: it runs for every change of every object. */
function objectsEqual(left: JsonRecord, right: JsonRecord): boolean {
  return (
    Object.keys(left).every((key) => deepEqual(left[key], own(right, key))) &&
    Object.keys(right).every((key) => right[key] === undefined || Object.hasOwn(left, key))
  );
}

function own(object: JsonRecord, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
