import type { ProviderInfo } from "./provider-info.ts";

/** One thing that a provider declares differently than before. */
export interface InfoChange {
  /** `capabilities.loadBalancers.sourceRanges`. */
  readonly path: string;
  /** JSON text; undefined: not declared. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** What differs between two handshakes besides the boot id, by path. */
export function infoChanges(before: ProviderInfo, after: ProviderInfo): readonly InfoChange[] {
  const old = flatten({ ...before, bootId: undefined, diagnostics: undefined });
  const now = flatten({ ...after, bootId: undefined, diagnostics: undefined });
  const paths = [...new Set([...old.keys(), ...now.keys()])].toSorted();
  return paths
    .map((path) => ({ path, before: old.get(path), after: now.get(path) }))
    .filter((change) => change.before !== change.after);
}

/** Leaves by path; a list is one leaf. */
function flatten(value: unknown, path = "", leaves = new Map<string, string>()): ReadonlyMap<string, string> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    for (const [key, item] of Object.entries(value)) flatten(item, path === "" ? key : `${path}.${key}`, leaves);
  } else if (value !== undefined) {
    leaves.set(path, JSON.stringify(value));
  }
  return leaves;
}
