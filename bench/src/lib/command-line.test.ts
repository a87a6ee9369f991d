import { expect, test } from "vitest";
import { readFlags } from "./command-line.ts";

const defaults = { nodes: "1000", out: "/out" };

test("readFlags() takes what is given, and the default of the rest", () => {
  const flags = readFlags(["--nodes=5"], defaults);
  expect(flags.kind === "flags" && [flags.get("nodes"), flags.get("out")]).toEqual(["5", "/out"]);
});

test("readFlags() knows which switches are given", () => {
  const flags = readFlags(["--again"], defaults, ["again", "never"]);
  expect(flags.kind === "flags" && [flags.has("again"), flags.has("never")]).toEqual([true, false]);
});

test.each([
  ["a flag that there is not", ["--node=5"], "Unknown option '--node'"],
  ["a word that is no flag", ["5"], "Unexpected argument '5'"],
  ["a flag without its value", ["--nodes"], "argument missing"],
])("readFlags() refuses %s", (_sentence, args, problem) => {
  expect(readFlags(args, defaults)).toEqual({ kind: "problems", problems: [expect.stringContaining(problem)] });
});

test("readFlags() helps whatever else is asked", () => {
  expect(readFlags(["--node=5", "--help"], defaults)).toEqual({ kind: "help" });
});
