/** An object of a parsed JSON text whose members are still unknown. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** A JSON value had another shape than the reader needs. */
export class DecodeError extends Error {
  readonly code = "DECODE";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DecodeError";
  }
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

/** The text under `key`; absent and null count as "". */
export function stringField(record: JsonRecord, key: string): string {
  return optionalString(record, key) ?? "";
}

export function optionalString(record: JsonRecord, key: string): string | undefined {
  const value = record[key];
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : fail(key, "a text", value);
}

/** The number under `key`; absent and null count as 0. */
export function numberField(record: JsonRecord, key: string): number {
  return optionalNumber(record, key) ?? 0;
}

export function optionalNumber(record: JsonRecord, key: string): number | undefined {
  const value = record[key];
  if (value === undefined || value === null) return undefined;
  return typeof value === "number" ? value : fail(key, "a number", value);
}

/** The boolean under `key`; absent and null count as false. */
export function booleanField(record: JsonRecord, key: string): boolean {
  return optionalBoolean(record, key) ?? false;
}

export function optionalBoolean(record: JsonRecord, key: string): boolean | undefined {
  const value = record[key];
  if (value === undefined || value === null) return undefined;
  return typeof value === "boolean" ? value : fail(key, "true or false", value);
}

/** The array under `key`, each item read by `read`; absent and null count as empty. */
function arrayField<T>(record: JsonRecord, key: string, read: (item: unknown) => T): readonly T[] {
  const value = record[key];
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value.map((item: unknown) => read(item)) : fail(key, "an array", value);
}

/** An array of objects under `key`. */
export function recordsField<T>(record: JsonRecord, key: string, read: (item: JsonRecord) => T): readonly T[] {
  return arrayField(record, key, (item) => read(asRecord(item, key)));
}

/** An array of texts under `key`. */
export function stringsField(record: JsonRecord, key: string): readonly string[] {
  return arrayField(record, key, (item) => (typeof item === "string" ? item : fail(key, "a text", item)));
}

/** An object whose values are texts, under `key`. */
export function stringMapField(record: JsonRecord, key: string): Readonly<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(recordField(record, key))) {
    result[name] = typeof value === "string" ? value : fail(`${key}[${name}]`, "a text", value);
  }
  return result;
}

function fail(what: string, wanted: string, got: unknown): never {
  const kind = got === null ? "null" : Array.isArray(got) ? "an array" : typeof got;
  throw new DecodeError(`${what}: want ${wanted}, got ${kind}`);
}
