/** An object of a parsed JSON text, its members not yet checked. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** A JSON value does not have the shape that the reader needs. */
export class DecodeError extends Error {
  readonly code = "DECODE";
  override readonly name = "DecodeError";
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const EMPTY: JsonRecord = Object.freeze({});

/** `value` as an object; absent and null count as an empty one. */
export function asRecord(value: unknown, what: string): JsonRecord {
  if (value === undefined || value === null) return EMPTY;
  return isRecord(value) ? value : fail(what, "an object", value);
}

/** The object under `key`; absent and null count as an empty one. */
export function recordField(record: JsonRecord, key: string): JsonRecord {
  return asRecord(record[key], key);
}

/** The member `key`; undefined when it is absent or null. */
function optional<T>(record: JsonRecord, key: string, is: (value: unknown) => value is T, wanted: string) {
  const value = record[key];
  if (value === undefined || value === null) return undefined;
  return is(value) ? value : fail(key, wanted, value);
}

const isString = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number";
const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";

export const optionalString = (record: JsonRecord, key: string) => optional(record, key, isString, "a text");
export const optionalNumber = (record: JsonRecord, key: string) => optional(record, key, isNumber, "a number");
export const optionalBoolean = (record: JsonRecord, key: string) => optional(record, key, isBoolean, "true or false");

/** Absent and null count as "", 0 and false. */
export const stringField = (record: JsonRecord, key: string): string => optionalString(record, key) ?? "";
export const numberField = (record: JsonRecord, key: string): number => optionalNumber(record, key) ?? 0;
export const booleanField = (record: JsonRecord, key: string): boolean => optionalBoolean(record, key) ?? false;

/** The array under `key`; absent and null count as empty. */
function arrayField<T>(record: JsonRecord, key: string, read: (item: unknown) => T): readonly T[] {
  const value = record[key];
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value.map((item: unknown) => read(item)) : fail(key, "an array", value);
}

export function recordsField<T>(record: JsonRecord, key: string, read: (item: JsonRecord) => T): readonly T[] {
  return arrayField(record, key, (item) => read(asRecord(item, key)));
}

export function stringsField(record: JsonRecord, key: string): readonly string[] {
  return arrayField(record, key, (item) => (isString(item) ? item : fail(key, "a text", item)));
}

export function stringMapField(record: JsonRecord, key: string): Readonly<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(recordField(record, key))) {
    result[name] = isString(value) ? value : fail(`${key}[${name}]`, "a text", value);
  }
  return result;
}

function fail(what: string, wanted: string, got: unknown): never {
  const kind = got === null ? "null" : Array.isArray(got) ? "an array" : typeof got;
  throw new DecodeError(`${what}: want ${wanted}, got ${kind}`);
}
