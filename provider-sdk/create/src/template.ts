import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Language } from "./language.ts";
import { replaceAll, type Replacement } from "./placeholders.ts";

/** Path in the project, with `/`, to the text of the file. */
export type Files = ReadonlyMap<string, string>;

// One directory a language, and what all languages have.
const templatesDirectory = fileURLToPath(new URL("../templates", import.meta.url));

/** The files of a language's project, with the names in place. */
export async function renderTemplate(language: Language, replacements: readonly Replacement[]): Promise<Files> {
  const files = new Map<string, string>();
  for (const layer of ["shared", language]) {
    const directory = join(templatesDirectory, layer);
    for (const path of await filesBelow(directory)) {
      const text = await readFile(join(directory, path), "utf8");
      files.set(replaceAll(projectPath(path), replacements), replaceAll(text, replacements));
    }
  }
  return files;
}

/** Files that tools create when a developer runs a template in place. */
const LEFT_BEHIND = /(?:^|\/)(?:node_modules|dist|bin|__pycache__|\.venv|\.[a-z]+_cache|[^/]+\.egg-info)\//;

async function filesBelow(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((path) => !LEFT_BEHIND.test(path))
    .toSorted();
}

/** npm leaves these files out of packages, so the templates have them without the dot. */
function projectPath(path: string): string {
  return path.replace(/(^|\/)(gitignore|npmrc)$/, "$1.$2");
}
