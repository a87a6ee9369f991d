import { describe, expect, test } from "vitest";
import { byPackage, isSource, sizesOf } from "./sizes.ts";

const lines = (count: number): string => "x\n".repeat(count);

describe("isSource()", () => {
  test.each([
    "a.ts",
    "src/view.tsx",
    "bootstrap.mjs",
    "provider/serve.go",
    "cloudwire/server.py",
    "src/testing/fake.ts",
  ])("takes %s", (path) => {
    expect(isSource(path)).toBe(true);
  });

  test.each([
    "a.test.ts",
    "a.component.test.ts",
    "a.bench.ts",
    "a.yaml",
    "provider/serve_test.go",
    "tests/helpers.py",
    "test_server.py",
    "conftest.py",
    "test/support/world.ts",
    "src/gen/instance.ts",
  ])("leaves out %s", (path) => {
    expect(isSource(path)).toBe(false);
  });
});

describe("sizesOf()", () => {
  test("counts files, lines, long files and the fullest directory", () => {
    const files = new Map([
      ["a/1.ts", lines(10)],
      ["a/2.ts", lines(401)],
      ["a/3.ts", `${lines(19)}no line feed at the end`],
      ["b/4.ts", lines(400)],
    ]);
    expect(sizesOf(files)).toEqual({
      files: 4,
      lines: 831,
      medianLines: 20,
      p90Lines: 401,
      longFiles: 1,
      fullestDirectory: { path: "a", files: 3 },
    });
  });

  test("of no files is nothing", () => {
    expect(sizesOf(new Map())).toEqual({
      files: 0,
      lines: 0,
      medianLines: 0,
      p90Lines: 0,
      longFiles: 0,
      fullestDirectory: { path: "", files: 0 },
    });
  });
});

test("byPackage() gives a file to the innermost package, and the rest to its first directory", () => {
  const paths = [
    "package.json",
    "vitest.config.ts",
    "test/package.json",
    "test/src/a.ts",
    "test/plane/package.json",
    "test/plane/src/b.ts",
    "test/plane/test/c.ts",
    "scripts/d.ts",
  ];
  const grouped = byPackage(new Map(paths.map((path) => [path, ""])));
  expect([...grouped].map(([name, files]) => [name, ...files.keys()])).toEqual([
    ["scripts", "scripts/d.ts"],
    ["test", "test/src/a.ts"],
    ["test/plane", "test/plane/src/b.ts"],
  ]);
});
