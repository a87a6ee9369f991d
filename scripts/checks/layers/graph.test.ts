import { describe, expect, test } from "vitest";
import { readSource } from "./file.ts";
import { importCycles, importerCounts, importGraph } from "./graph.ts";

const graphOf = (files: Readonly<Record<string, string>>) =>
  importGraph(Object.entries(files).map(([path, text]) => readSource(path, text)));
const imports = (...names: readonly string[]): string => names.map((name) => `import "./${name}.ts";`).join("\n");

describe("importCycles()", () => {
  test.each([
    ["none where nothing leads back", { "a.ts": imports("b", "c"), "b.ts": imports("c"), "c.ts": "" }, []],
    ["two files that import each other", { "a.ts": imports("b"), "b.ts": imports("a") }, [["a.ts", "b.ts"]]],
    [
      "a cycle through types",
      { "a.ts": 'import type { B } from "./b.ts";', "b.ts": 'export type A = import("./a.ts").A;' },
      [["a.ts", "b.ts"]],
    ],
    [
      "cycles that share a file as one",
      { "a.ts": imports("b", "c"), "b.ts": imports("a"), "c.ts": imports("a") },
      [["a.ts", "b.ts", "c.ts"]],
    ],
    [
      "two apart, without what hangs on them",
      {
        "d.ts": imports("e", "a"),
        "e.ts": imports("d"),
        "a.ts": imports("b", "x"),
        "b.ts": imports("a"),
        "x.ts": "",
      },
      [
        ["a.ts", "b.ts"],
        ["d.ts", "e.ts"],
      ],
    ],
    ["none for a file that imports itself", { "a.ts": imports("a") }, []],
  ])("finds %s", (_sentence, files, cycles) => {
    expect(importCycles(graphOf(files))).toEqual(cycles);
  });
});

test("importerCounts() counts files, each once however often it imports", () => {
  const graph = graphOf({
    "x/a.ts": 'import type { C } from "../c.ts";\nimport { c } from "../c.ts";',
    "x/b.ts": 'export * from "../c.ts";\nimport fastify from "fastify";\nimport "./gone.ts";',
    "c.ts": "",
  });
  expect([...importerCounts(graph)]).toEqual([
    ["x/a.ts", 0],
    ["x/b.ts", 0],
    ["c.ts", 2],
  ]);
});
