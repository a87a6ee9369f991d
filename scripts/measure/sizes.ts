import { posix } from "node:path";

export interface Sizes {
  readonly files: number;
  readonly lines: number;
  readonly medianLines: number;
  readonly p90Lines: number;
  /** Files longer than `LONG_LINES`. */
  readonly longFiles: number;
  readonly fullestDirectory: { readonly path: string; readonly files: number };
}

/** The house's limit for a file. */
const LONG_LINES = 400;

const SOURCE = /\.(?:tsx?|mjs|go|py)$/;
const TEST_FILE = /\.(?:test|bench)\.[a-z]+$|_test\.go$|^test_.*\.py$|^conftest\.py$/;
const TEST_DIRECTORIES = ["test", "tests", "testdata", "gen", "dist", "node_modules"];

/** A handwritten source file: no test, benchmark or generated file. `path` is relative to the package. */
export function isSource(path: string): boolean {
  const directories = path.split("/").slice(0, -1);
  return (
    SOURCE.test(path) &&
    !TEST_FILE.test(posix.basename(path)) &&
    !directories.some((name) => TEST_DIRECTORIES.includes(name))
  );
}

/** Sizes of these files (path to text), each of which counts. */
export function sizesOf(files: ReadonlyMap<string, string>): Sizes {
  const lengths = [...files.values()].map(lineCount).toSorted((a, b) => a - b);
  return {
    files: files.size,
    lines: lengths.reduce((sum, length) => sum + length, 0),
    medianLines: quantile(lengths, 0.5),
    p90Lines: quantile(lengths, 0.9),
    longFiles: lengths.filter((length) => length > LONG_LINES).length,
    fullestDirectory: fullestDirectory([...files.keys()]),
  };
}

/** Number of source files by package, where every package.json makes one; what is in none belongs to its first directory. */
export function byPackage(files: ReadonlyMap<string, string>): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const packages = [...files.keys()]
    .filter((path) => path.endsWith("/package.json"))
    .map((path) => posix.dirname(path))
    .toSorted((a, b) => b.length - a.length);
  const grouped = new Map<string, Map<string, string>>();
  for (const [path, text] of files) {
    const owner = packages.find((name) => path.startsWith(`${name}/`)) ?? path.split("/")[0] ?? "";
    if (!path.includes("/") || !isSource(path.slice(owner.length + 1))) continue;
    const own = grouped.get(owner) ?? new Map<string, string>();
    grouped.set(owner, own.set(path, text));
  }
  return new Map([...grouped].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

export function lineCount(text: string): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

/** The smallest value that so large a part of them does not exceed; 0 of none. */
function quantile(ascending: readonly number[], part: number): number {
  return ascending[Math.max(0, Math.ceil(ascending.length * part) - 1)] ?? 0;
}

function fullestDirectory(paths: readonly string[]): { readonly path: string; readonly files: number } {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
  const [first] = [...counts].toSorted(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  return { path: first?.[0] ?? "", files: first?.[1] ?? 0 };
}
