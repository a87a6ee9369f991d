import { describe, expect, test } from "vitest";
import { parseOptions } from "./options.ts";

describe("parseOptions()", () => {
  test.each([
    ["nothing", [], { nodes: 3, once: false, help: false }],
    ["everything", ["--once", "--nodes", "5", "--help"], { nodes: 5, once: true, help: true }],
  ])("takes %s", (_sentence, args, options) => {
    expect(parseOptions(args)).toEqual(options);
  });

  test.each([["0"], ["201"], ["two"], ["1.5"], [""]])("refuses --nodes %j", (nodes) => {
    expect(() => parseOptions(["--nodes", nodes])).toThrow("has to be a whole number from 1 to 200");
  });

  test("refuses an option it does not know", () => {
    expect(() => parseOptions(["--loud"])).toThrow("Unknown option '--loud'");
  });
});
