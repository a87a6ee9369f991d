import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../lib/run.ts";
import type { Kind } from "./inventory.ts";

/** Whether this repository has, or documents, a name of upstream. undefined: it has no list of this kind. */
export type IsKnown = (kind: Kind, name: string) => boolean | undefined;

/** Reads the lists of public names, and the reference pages, which also name what is ignored or absent. */
export function readKnown(): IsKnown {
  const read = (path: string): string => readFileSync(join(ROOT, "docs", path), "utf8");
  return isKnownIn({
    flags: read("surface/flags.txt") + read("reference/flags.md"),
    configuration: read("surface/configuration.txt"),
    metrics: read("surface/metrics.txt") + read("reference/metrics.md"),
    events: read("surface/events.txt"),
  });
}

/** @param lists texts that contain each name as a word, or `prefix_*` for all names with a prefix */
export function isKnownIn(lists: Partial<Readonly<Record<Kind, string>>>): IsKnown {
  const words = new Map(
    Object.entries(lists).map(([kind, text]) => [kind, new Set(text.match(/[\w.*-]+/g) ?? [])] as const),
  );
  return (kind, name) => {
    const known = words.get(kind);
    if (known === undefined) return undefined;
    // Events have the Go package after the reason.
    const [word = ""] = name.split(" ");
    const prefixes = word.split("_").map((_, index, parts) => `${parts.slice(0, index + 1).join("_")}_*`);
    return [word, ...prefixes].some((candidate) => known.has(candidate));
  };
}
