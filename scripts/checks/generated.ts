import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, run } from "../lib/run.ts";
import { treeFiles } from "../lib/tree.ts";

/** Where generators write. Anything in these directories is generated, anything elsewhere is not. */
const GENERATED = [
  ":(glob)**/gen/**",
  "provider-sdk/go/cloudprovider",
  "deploy/charts",
  "deploy/manifests",
  "deploy/observability",
  "docs/reference",
  "proto/README.md",
];

/** Runs every generator in place and compares the files before and after: committed or not, they must be what it writes. */
export async function checkGenerated(): Promise<{ readonly ok: boolean; readonly output: string }> {
  const before = await digests();
  const { code, output } = await run("npm", ["run", "--silent", "gen"], { output: "keep" });
  if (code !== 0) return { ok: false, output };
  const changed = changedPaths(before, await digests());
  return {
    ok: changed.length === 0,
    output: `These generated files were not what the generator writes; they are now:\n${changed.map((path) => `  ${path}`).join("\n")}`,
  };
}

/** Paths added, removed or with another digest, in order. */
export function changedPaths(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).toSorted();
}

async function digests(): Promise<ReadonlyMap<string, string>> {
  const files = await treeFiles(...GENERATED);
  return new Map(
    files.map((path) => [
      path,
      createHash("sha256")
        .update(readFileSync(join(ROOT, path)))
        .digest("hex"),
    ]),
  );
}
