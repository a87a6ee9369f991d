import { describe, expect, test } from "vitest";
import { parseOptions } from "./options.ts";

describe("parseOptions()", () => {
  test.each([
    ["no arguments", [], { nodes: 3, once: false, help: false }],
    ["all options", ["--once", "--nodes", "5", "--help"], { nodes: 5, once: true, help: true }],
  ])("accepts %s", (_sentence, args, options) => {
    expect(parseOptions(args)).toEqual(options);
  });

  test.each([["0"], ["201"], ["two"], ["1.5"], [""]])("rejects --nodes %j", (nodes) => {
    expect(() => parseOptions(["--nodes", nodes])).toThrow("must be a whole number from 1 to 200");
  });

  test("rejects an unknown option", () => {
    expect(() => parseOptions(["--loud"])).toThrow("Unknown option '--loud'");
  });
});
