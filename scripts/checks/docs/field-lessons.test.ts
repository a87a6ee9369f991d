import { expect, test } from "vitest";
import { globSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { ROOT } from "../../lib/run.ts";

const PAGE = "docs/explanation/field-lessons.md";
const TESTS = [
  "{bench,cli,controller,demo,deploy,devcluster,proto,provider-sdk,providers,scripts,status-page,test}/**/*.test.ts",
  "{provider-sdk,providers}/**/*_test.go",
  "{provider-sdk,providers}/**/test_*.py",
];
const IGNORED = ["**/node_modules/**", "**/dist/**", "**/.venv/**"];

interface Row {
  readonly id: string;
  readonly cells: readonly string[];
  readonly tests: readonly string[];
}

const rows = readFileSync(join(ROOT, PAGE), "utf8")
  .split("\n")
  .filter((line) => /^\| [A-Z]-\d+ \|/.test(line))
  .map(rowOf);
const casesByFile = new Map(
  globSync(TESTS, { cwd: ROOT, exclude: IGNORED }).map((file) => [
    file,
    casesIn(readFileSync(join(ROOT, file), "utf8")),
  ]),
);

test("each case in docs/explanation/field-lessons.md has one row with all its cells", () => {
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter(({ cells }) => cells.length !== 4 || cells.some((cell) => cell === ""))).toEqual([]);
  expect(rows.map(({ id }) => id)).toEqual([...new Set(rows.map(({ id }) => id))]);
});

test("each test file that a row of field-lessons.md links to has a test of that case", () => {
  const broken = rows.flatMap(({ id, tests }) =>
    tests.length === 0
      ? [`${id} links to no test`]
      : tests
          .filter((file) => casesByFile.get(file)?.has(id) !== true)
          .map((file) => `${id}: ${file} has no "(case ${id})"`),
  );
  expect(broken).toEqual([]);
});

test("each test file with a case has a link in that case's row of field-lessons.md", () => {
  const linked = new Set(rows.flatMap(({ id, tests }) => tests.map((file) => `${id} ${file}`)));
  const missing = [...casesByFile].flatMap(([file, cases]) =>
    [...cases].map((id) => `${id} ${file}`).filter((link) => !linked.has(link)),
  );
  expect(missing).toEqual([]);
});

function rowOf(line: string): Row {
  const cells = line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
  const tests = [...(cells.at(-1) ?? "").matchAll(/\]\(([^)#]+)\)/g)].map(([, path = ""]) =>
    normalize(join("docs/explanation", path)),
  );
  return { id: cells[0] ?? "", cells, tests };
}

function casesIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/\(case ([A-Z]-\d+)\)/g)].map(([, id = ""]) => id));
}
