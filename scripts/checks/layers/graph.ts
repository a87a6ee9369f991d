import { posix } from "node:path";
import type { SourceFile } from "./file.ts";

/** A file to the files that it imports, types included. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

/** Imports by relative path among the given files. */
export function importGraph(files: readonly SourceFile[]): ImportGraph {
  const paths = new Set(files.map(({ path }) => path));
  const graph = new Map<string, ReadonlySet<string>>();
  for (const { path, imports } of files) {
    const targets = imports
      .filter(({ specifier }) => specifier.startsWith("."))
      .map(({ specifier }) => posix.join(posix.dirname(path), specifier));
    graph.set(path, new Set(targets.filter((target) => target !== path && paths.has(target))));
  }
  return graph;
}

/** Groups of files that reach one another: each is a cycle, or several that share a file. Sorted; a file alone is none. */
export function importCycles(graph: ImportGraph): readonly (readonly string[])[] {
  const reversed = new Map<string, Set<string>>([...graph.keys()].map((path) => [path, new Set()]));
  for (const [path, targets] of graph) for (const target of targets) reversed.get(target)?.add(path);

  // Kosaraju: in the order in which they end, last first, what reaches each of them backward is its group.
  const ended: string[] = [];
  const seen = new Set<string>();
  for (const path of graph.keys()) walk(path, graph, seen, (end) => ended.push(end));
  const groups: string[][] = [];
  const grouped = new Set<string>();
  for (const path of ended.toReversed()) {
    const group: string[] = [];
    walk(path, reversed, grouped, (end) => group.push(end));
    if (group.length > 1) groups.push(group.toSorted());
  }
  return groups.toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1));
}

/** Depth first, without recursion: `end` gets each file once all it leads to is done. */
function walk(start: string, graph: ImportGraph, seen: Set<string>, end: (path: string) => void): void {
  if (seen.has(start)) return;
  seen.add(start);
  const stack = [{ path: start, targets: [...(graph.get(start) ?? [])] }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const next = top.targets.pop();
    if (next === undefined) {
      end(top.path);
      stack.pop();
    } else if (!seen.has(next)) {
      seen.add(next);
      stack.push({ path: next, targets: [...(graph.get(next) ?? [])] });
    }
  }
}

/** How many files import each of them. */
export function importerCounts(graph: ImportGraph): ReadonlyMap<string, number> {
  const counts = new Map<string, number>([...graph.keys()].map((path) => [path, 0]));
  for (const targets of graph.values()) {
    for (const target of targets) counts.set(target, (counts.get(target) ?? 0) + 1);
  }
  return counts;
}
