import { type Json, isJsonObject } from "../json.ts";

/** RFC 7396: null removes a key, objects are joined, everything else replaces. */
export function applyMergePatch(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const merged: Record<string, Json | undefined> = isJsonObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined) delete merged[key];
    else merged[key] = applyMergePatch(merged[key], value);
  }
  return merged;
}
