import { posix } from "node:path";
import { loadsOf } from "./elf.ts";
import { type Entry, linkedPath, storedPath } from "../entry.ts";

/**
 * Paths of the programs and of every library that they load, with the links on the way. A library that is nowhere is an
 * error: the program would not start.
 */
export function reachable(programs: readonly string[], entries: readonly Entry[]): ReadonlySet<string> {
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  const libraries = new Map(entries.filter(isLibrary).map(({ path }) => [posix.basename(path), path]));
  const reached = new Set<string>();
  const open = [...programs];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path)) continue;
    const entry = byPath.get(path);
    if (entry === undefined) throw new Error(`${path} is in none of the packages: add the one that has it`);
    reached.add(path);
    if (entry.kind === "link") open.push(linkedPath(entry));
    if (entry.kind !== "file") continue;
    const { libraries: needed = [], interpreter } = loadsOf(entry.content) ?? {};
    if (interpreter !== undefined) open.push(storedPath(interpreter));
    for (const name of needed) {
      const library = libraries.get(name);
      if (library === undefined) throw new Error(`${path} needs ${name}, which is in none of the packages`);
      open.push(library);
    }
  }
  return reached;
}

/** Where Debian's loader looks by default: usr/lib and its directory for the architecture. */
function isLibrary({ path }: Entry): boolean {
  return /^usr\/lib(?:64)?(?:\/[a-z0-9_]+-linux-gnu)?\/[^/]+$/.test(path);
}
