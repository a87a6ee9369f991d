import type { ProviderInfo } from "../model/info.ts";

/** One thing that a provider declares differently than before. */
export interface InfoChange {
  /** `capabilities.loadBalancers.sourceRanges`; of a whole group that came or went, its name: `capabilities.routes`. */
  readonly path: string;
  /** JSON text; undefined: not declared. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** What differs between two handshakes besides the boot id, by path. */
export function infoChanges(before: ProviderInfo, after: ProviderInfo): readonly InfoChange[] {
  const apart = { bootId: undefined, diagnostics: undefined };
  return compare({ ...before, ...apart }, { ...after, ...apart }, "");
}

/** One line for people. */
export function changeText({ path, before = "absent", after = "absent" }: InfoChange): string {
  return `${path}: ${before} -> ${after}`;
}

/** A list is one value: what comes or goes in it is seen best side by side. */
function compare(before: unknown, after: unknown, path: string): readonly InfoChange[] {
  const [old, now] = [entriesOf(before), entriesOf(after)];
  if (old === undefined || now === undefined) {
    const change = { path, before: textOf(before), after: textOf(after) };
    return change.before === change.after ? [] : [change];
  }
  const keys = [...new Set([...old.keys(), ...now.keys()])].toSorted();
  return keys.flatMap((key) => compare(old.get(key), now.get(key), path === "" ? key : `${path}.${key}`));
}

function entriesOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  const isGroup = typeof value === "object" && value !== null && !Array.isArray(value);
  return isGroup ? new Map(Object.entries(value)) : undefined;
}

function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}
