/** What no file shows alone. */
import { posix } from "node:path";
import type { Finding, SourceFile } from "./file.ts";
import { importCycles, importGraph } from "./graph.ts";

/** Sources in one directory; their tests lie beside them and do not count. */
const MOST_FILES = 15;

export function directoryFindings(files: readonly SourceFile[]): readonly Finding[] {
  const counts = new Map<string, number>();
  for (const { path, isTest } of files) {
    const directory = posix.dirname(path);
    if (!isTest) counts.set(directory, (counts.get(directory) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > MOST_FILES)
    .map(([directory, count]) => ({
      rule: "directory-size",
      path: directory,
      line: 1,
      message: `has ${count} source files: at most ${MOST_FILES} lie in one directory`,
    }));
}

/** Types count: who reads one file of a cycle has to read them all. */
export function cycleFindings(files: readonly SourceFile[]): readonly Finding[] {
  const sources = files.filter(({ isTest }) => !isTest);
  return importCycles(importGraph(sources)).map(([first = "", ...others]) => ({
    rule: "cycles",
    path: first,
    line: 1,
    message: `imports, over others, itself: ${others.join(", ")}`,
  }));
}
