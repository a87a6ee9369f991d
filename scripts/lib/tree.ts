import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { capture, ROOT } from "./run.ts";

/** Text files above this are data, not prose or source. */
const TEXT_LIMIT_BYTES = 1_000_000;

/** Files of the checkout that git tracks or would add, as paths relative to its top; ignored files are not among them. */
export async function treeFiles(...patterns: readonly string[]): Promise<readonly string[]> {
  const listed = await capture("git", [
    "ls-files",
    "--cached",
    "--others",
    "--exclude-standard",
    "-z",
    "--",
    ...patterns,
  ]);
  // A file deleted but not yet committed is still listed.
  return [...new Set(listed.split("\0"))].filter((path) => path !== "" && existsSync(join(ROOT, path))).toSorted();
}

/** Path to text of those files; binary and very large ones are left out. */
export async function treeTexts(...patterns: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const path of await treeFiles(...patterns)) {
    const info = statSync(join(ROOT, path));
    if (!info.isFile() || info.size > TEXT_LIMIT_BYTES) continue;
    const text = readFileSync(join(ROOT, path), "utf8");
    if (!text.includes("\0")) texts.set(path, text);
  }
  return texts;
}
