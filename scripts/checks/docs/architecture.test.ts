import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../lib/run.ts";

const SOURCES = "controller/src";
const ARCHITECTURE = "docs/explanation/architecture.md";

const architecture = readFileSync(join(ROOT, ARCHITECTURE), "utf8");

test("docs/explanation/architecture.md has one line for each directory of controller/src, two levels deep", () => {
  const table = /<!-- tree: controller\/src -->(.*?)<!-- \/tree -->/s.exec(architecture)?.[1] ?? "";
  const listed = [...table.matchAll(/^\| `([^`]+)` \| \S/gm)].map(([, path = ""]) => path);
  const directories = directoriesIn(SOURCES).flatMap((parent) => [
    parent,
    ...directoriesIn(`${SOURCES}/${parent}`).map((name) => `${parent}/${name}`),
  ]);
  expect(listed.toSorted()).toEqual(directories.toSorted());
});

test("docs/explanation/architecture.md names only files and directories that exist", () => {
  const tops = new Set(readdirSync(ROOT));
  const rows = new Set(readdirSync(join(ROOT, SOURCES)));
  const paths = pathsIn(architecture);
  expect(paths.length).toBeGreaterThan(100);
  const missing = paths.filter((path) => {
    const [first = ""] = path.split("/");
    const places = [...(tops.has(first) ? [path] : []), ...(rows.has(first) ? [`${SOURCES}/${path}`] : [])];
    return places.length > 0 && !places.some((place) => existsSync(join(ROOT, place)));
  });
  expect(missing).toEqual([]);
});

test("pages name only files and directories of controller/src that exist", () => {
  // Decisions are of their day.
  const pages = globSync(["*.md", "docs/**/*.md"], { cwd: ROOT, exclude: ["docs/decisions/**"] });
  const missing = pages.flatMap((page) =>
    pathsIn(readFileSync(join(ROOT, page), "utf8"))
      .filter((path) => path.startsWith(`${SOURCES}/`) && !existsSync(join(ROOT, path)))
      .map((path) => `${page}: ${path}`),
  );
  expect(missing).toEqual([]);
});

/** Paths in the text's inline code, those with a placeholder left out. */
function pathsIn(text: string): readonly string[] {
  return [...text.matchAll(/`([\w.@-]+(?:\/[\w.@-]+)+)\/?`/g)].map(([, path = ""]) => path);
}

function directoriesIn(path: string): readonly string[] {
  return readdirSync(join(ROOT, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
