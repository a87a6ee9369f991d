/** Input and output of AWS without its types. */
export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

export function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

/** `[{ Key, Value }]` as a map. */
export function pairsOf(value: unknown): Map<string, string> {
  return new Map(listOf(value).map(({ Key, Value }) => [textOf(Key), textOf(Value)]));
}

export function toPairs(map: ReadonlyMap<string, string>): readonly Fields[] {
  return [...map].map(([Key, Value]) => ({ Key, Value }));
}

/** As the SDK of AWS throws it. */
export function awsError(name: string, message = `message of AWS: ${name}`, status = 400): Error {
  const facts = { name, $fault: status >= 500 ? "server" : "client", $metadata: { httpStatusCode: status } };
  return Object.assign(new Error(message), facts);
}
