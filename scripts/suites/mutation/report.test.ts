import { expect, test } from "vitest";
import { evaluate, type Mutant, mutantsOf, percent, type Reviewed } from "./report.ts";

const SOURCE = "const a = 1;\nif (a > 1) {\n  run();\n}\n";

const at = (line: number, column: number) => ({ line, column });
const found = (status: string) => ({
  status,
  replacement: "a >= 1",
  location: { start: at(2, 5), end: at(2, 10) },
});
const report = (...statuses: readonly string[]) => ({
  files: { "x/plan.ts": { source: SOURCE, mutants: statuses.map(found) } },
});

test.each([
  ["Killed", true],
  ["Timeout", true],
  ["RuntimeError", true],
  ["Survived", false],
  ["NoCoverage", false],
])("mutantsOf() of a mutant that is %s", (status, noticed) => {
  expect(mutantsOf(report(status))).toEqual([
    {
      path: "x/plan.ts",
      line: 2,
      before: "if (a > 1) {",
      after: "if (a >= 1) {",
      text: "const a = 1;\nif (a >= 1) {\n  run();\n}\n",
      noticed,
    },
  ]);
});

test.each(["Ignored", "CompileError", "Pending"])("mutantsOf() leaves out what is %s", (status) => {
  expect(mutantsOf(report(status))).toEqual([]);
});

test("mutantsOf() folds a mutant of several lines into one", () => {
  const mutant = { status: "Survived", replacement: "{}", location: { start: at(2, 12), end: at(4, 2) } };
  const [only] = mutantsOf({ files: { p: { source: SOURCE, mutants: [mutant] } } });
  const text = "const a = 1;\nif (a > 1) {}\n";
  const [before, after] = ["if (a > 1) { run(); }", "if (a > 1) {}"];
  expect(only).toEqual({ path: "p", line: 2, before, after, text, noticed: false });
});

function mutant(after: string, noticed: boolean, path = "p"): Mutant {
  return { path, line: 1, before: "a", after, text: after, noticed };
}
const entry = (after: string, path = "p"): Reviewed => ({ path, before: "a", after, why: "the same" });

test("evaluate() passes when enough is noticed and the rest was looked at", () => {
  const mutants = [mutant("b", true), mutant("c", false), mutant("d", true, "q")];
  expect(evaluate(mutants, [entry("c"), entry("z", "not run")], 60)).toEqual({
    byFile: new Map([
      ["p", { noticed: 1, all: 2 }],
      ["q", { noticed: 1, all: 1 }],
    ]),
    total: { noticed: 2, all: 3 },
    unseen: [],
    stale: [],
    passed: true,
  });
});

test("evaluate() fails below the share, anyone who has looked", () => {
  expect(evaluate([mutant("b", true), mutant("c", false)], [entry("c")], 51)).toMatchObject({
    passed: false,
    unseen: [],
  });
});

test.each([
  ["another replacement", entry("d")],
  ["another place", { ...entry("c"), before: "x" }],
  ["another file", entry("c", "q")],
])("evaluate() fails for a survivor when the list has only %s", (_, only) => {
  const survivor = mutant("c", false);
  expect(evaluate([survivor], [only], 0)).toMatchObject({ passed: false, unseen: [survivor] });
});

test("evaluate() fails for an entry whose fault is noticed now", () => {
  expect(evaluate([mutant("c", true)], [entry("c")], 0)).toMatchObject({ passed: false, stale: [entry("c")] });
});

test("percent() of no faults is all", () => expect(percent({ noticed: 0, all: 0 })).toBe(100));
