import { ControlPlaneError } from "./errors.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object at `key`, or an empty one: for reading optional parts of Kubernetes objects. */
export function objectAt(value: unknown, key: string): JsonObject {
  const found = isObject(value) ? value[key] : undefined;
  return isObject(found) ? found : {};
}

export function listAt(value: unknown, key: string): readonly unknown[] {
  const found = isObject(value) ? value[key] : undefined;
  return Array.isArray(found) ? found : [];
}

/** The text at `key`; `source` names what was read, for the error. */
export function requireString(value: unknown, key: string, source: string): string {
  const found = isObject(value) ? value[key] : undefined;
  if (typeof found !== "string") {
    throw new ControlPlaneError("UNEXPECTED_CONTENT", `read ${source}: "${key}" is not a string`);
  }
  return found;
}

export function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ControlPlaneError("UNEXPECTED_CONTENT", `read ${source}: it is not JSON`, { cause });
  }
}
