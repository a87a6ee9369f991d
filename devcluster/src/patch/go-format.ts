import { type Json, isJsonArray, isJsonObject } from "../json.ts";

/** A value as Go's %v prints it, which is how the real server words some errors. */
export function formatGo(value: Json | undefined): string {
  if (value === null || value === undefined) return "<nil>";
  if (isJsonArray(value)) return `[${value.map(formatGo).join(" ")}]`;
  if (!isJsonObject(value)) return `${value}`;
  const entries = Object.keys(value).sort();
  return `map[${entries.map((key) => `${key}:${formatGo(value[key])}`).join(" ")}]`;
}
