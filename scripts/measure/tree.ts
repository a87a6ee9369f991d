import { execFileSync } from "node:child_process";
import { treeTexts } from "../lib/tree.ts";
import { ROOT } from "../lib/run.ts";

/** What is measured, and nothing else is read. */
const PATTERNS = ["*.ts", "*.tsx", "*.mjs", "*.go", "*.py", "*package.json", "docs/explanation/architecture.md"];
const WANTED = /\.(?:tsx?|mjs|go|py)$|(?:^|\/)package\.json$|^docs\/explanation\/architecture\.md$/;

/** Path to text of the sources as they lie in the checkout, committed or not. */
export function checkoutTexts(): Promise<ReadonlyMap<string, string>> {
  return treeTexts(...PATTERNS);
}

/** Path to text of the sources at a commit. */
export function commitTexts(revision: string): ReadonlyMap<string, string> {
  const listed = git(["ls-tree", "-r", "-z", "--name-only", "--full-tree", revision, "--"]).toString("utf8");
  const paths = listed.split("\0").filter((path) => WANTED.test(path));
  const input = paths.map((path) => `${revision}:${path}\n`).join("");
  return batchTexts(paths, git(["cat-file", "--batch"], input));
}

/** What `git cat-file --batch` printed for those paths: for each a line `<hash> blob <bytes>`, its bytes, and a line feed. */
export function batchTexts(paths: readonly string[], printed: Buffer): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  let at = 0;
  for (const path of paths) {
    const headerEnd = printed.indexOf("\n", at);
    const sizeBytes = Number(/ blob (\d+)$/.exec(printed.toString("utf8", at, headerEnd))?.[1]);
    if (!Number.isInteger(sizeBytes)) throw new Error(`git has no text of ${path}`);
    const begin = headerEnd + 1;
    texts.set(path, printed.toString("utf8", begin, begin + sizeBytes));
    at = begin + sizeBytes + 1;
  }
  return texts;
}

function git(args: readonly string[], input = ""): Buffer {
  return execFileSync("git", args, { cwd: ROOT, input, maxBuffer: Number.POSITIVE_INFINITY });
}
