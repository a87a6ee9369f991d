import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** A fenced block: the words of its first line, and what stands in it without the indentation of a list. */
export interface Block {
  /** `docs/guides/upgrade.md`. */
  readonly page: string;
  readonly language: string;
  readonly words: readonly string[];
  readonly text: string;
}

export async function readBlocks(page: string): Promise<readonly Block[]> {
  const fences = (await readFile(join(ROOT, page), "utf8")).matchAll(/^( *)```(\S*)([^\n]*)\n(.*?)^\1```$/gms);
  return [...fences].map(([, indent = "", language = "", words = "", text = ""]) => ({
    page,
    language,
    words: words.trim().split(/\s+/),
    text: text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  }));
}

/** Of all pages for operators and vendors. */
export async function readGuides(): Promise<readonly Block[]> {
  const directories = ["docs/guides", "docs/explanation"];
  const pages = await Promise.all(
    directories.map(async (directory) => (await readdir(join(ROOT, directory))).map((file) => `${directory}/${file}`)),
  );
  const markdown = pages.flat().filter((path) => path.endsWith(".md"));
  return (await Promise.all(markdown.map((page) => readBlocks(page)))).flat();
}
