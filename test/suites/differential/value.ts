/** A JSON object of an answer. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at the path of keys, undefined where a step is missing. */
export function valueAt(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((current, key) => (isRecord(current) ? current[key] : undefined), value);
}

/** The string at the path of keys, "" where there is none. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = valueAt(value, ...path);
  return typeof found === "string" ? found : "";
}

/** The object without one key; anything else as it is. */
export function without(value: unknown, key: string): unknown {
  if (!isRecord(value) || !(key in value)) return value;
  const { [key]: _removed, ...rest } = value;
  return rest;
}
