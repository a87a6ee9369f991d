import { describe, expect, test } from "vitest";
import { measurementsOf } from "./measurements.ts";
import { report } from "./report.ts";
import { batchTexts } from "./tree.ts";
import { walkCount } from "./walks.ts";

const PAGE = `# Architecture

<!-- walk: node -->

1. \`a.ts\` asks
2. \`b.ts\` answers

<!-- /walk -->

<!-- walk: guard -->

1. \`c.ts\` refuses

<!-- /walk -->
`;

test.each([
  ["node", 2],
  ["guard", 1],
  ["service", undefined],
] as const)("walkCount() of %s", (walk, count) => {
  expect(walkCount(PAGE, walk)).toBe(count);
});

const TREE = new Map([
  ["controller/package.json", "{}"],
  ["controller/src/leadership/elector.ts", 'import { a } from "../kube/client.ts";\n'],
  ["controller/src/kube/client.ts", 'import { b } from "../runtime/reconciler.ts";\nimport "./errors.ts";\n'],
  ["controller/src/kube/errors.ts", 'import "./client.ts";\n'],
  ["controller/src/kube/errors.test.ts", 'import "./client.ts";\n'],
  ["controller/src/runtime/reconciler.ts", "\n".repeat(60)],
  ["cli/package.json", "{}"],
  ["cli/src/main.ts", "\n"],
  ["docs/explanation/architecture.md", PAGE],
]);

describe("measurementsOf()", () => {
  test("measures the controller closely, and the other packages' sizes", () => {
    expect(measurementsOf(TREE)).toEqual({
      controller: {
        files: 4,
        lines: 64,
        medianLines: 1,
        p90Lines: 60,
        longFiles: 0,
        fullestDirectory: { path: "controller/src/kube", files: 2 },
        oneImporter: 2,
        oneImporterShort: 1,
        againstRows: 1,
        cycles: 1,
        walks: { node: 2, service: undefined, guard: 1 },
      },
      packages: new Map([
        [
          "cli",
          {
            files: 1,
            lines: 1,
            medianLines: 1,
            p90Lines: 1,
            longFiles: 0,
            fullestDirectory: { path: "cli/src", files: 1 },
          },
        ],
      ]),
    });
  });

  test("does not count imports against the rows in the earlier layout", () => {
    const earlier = new Map([...TREE].filter(([path]) => !path.includes("leadership")));
    expect(measurementsOf(earlier).controller.againstRows).toBeUndefined();
  });
});

test("report() puts trees side by side, and says what was taken once", () => {
  const named = (name: string, tree: ReadonlyMap<string, string>) => ({ name, measurements: measurementsOf(tree) });
  const without = new Map([...TREE].filter(([path]) => !path.startsWith("cli/")));
  const text = report([named("HEAD", without), named("checkout", TREE)]);
  expect(text).toMatch(
    /^\| `controller\/src`, without tests and benchmarks +\| +HEAD \| +checkout \|\n\| -+ \| -+: \| /,
  );
  expect(text).toMatch(/\n\| files of the deletion guard +\| +1 \| +1 \|\n/);
  expect(text).toMatch(/\n\| files on the way of a Service .* +\| +81 ¹ \| +81 ¹ \|\n/);
  expect(text).toContain("\n¹ taken once at 5f3353f");
  expect(text).toMatch(/\n\| cli +\| +– → 1 \| +– → 1 \| +– → 0 \| +– → 1 \|\n$/);
});

describe("batchTexts()", () => {
  test("cuts what git printed by bytes, not by characters", () => {
    const printed = Buffer.from("aaaa blob 5\né → \nbbbb blob 0\n\ncccc blob 4\nx\ny\n\n".replace("blob 5", "blob 7"));
    expect([...batchTexts(["a.ts", "b.ts", "c.ts"], printed)]).toEqual([
      ["a.ts", "é → "],
      ["b.ts", ""],
      ["c.ts", "x\ny\n"],
    ]);
  });

  test("refuses what git does not have", () => {
    expect(() => batchTexts(["a.ts"], Buffer.from("HEAD:a.ts missing\n"))).toThrow("git has no text of a.ts");
  });
});
