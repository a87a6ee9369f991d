import { describe, expect, test } from "vitest";
import { parseVersion, satisfies } from "./node-version.mjs";

describe("parseVersion()", () => {
  test.each([
    ["v24.21.0\n", [24, 21, 0]],
    ["18", [18, 0, 0]],
    ["26.0.0-nightly", [26, 0, 0]],
    ["bad", undefined],
  ])("reads %j as %j", (text, version) => {
    expect(parseVersion(text)).toEqual(version);
  });
});

describe("satisfies()", () => {
  test.each([
    ["24.21.0", ">=24.21.0 <25", true],
    ["24.20.9", ">=24.21.0 <25", false],
    ["24.100.0", ">=24.21.0 <25", true],
    ["25.0.0", ">=24.21.0 <25", false],
    ["20.20.2", ">=18", true],
    ["no version", ">=18", false],
  ])("of %s in %s is %s", (version, range, answer) => {
    expect(satisfies(version, range)).toBe(answer);
  });

  test("refuses a range it does not understand", () => {
    expect(() => satisfies("24.21.0", "^24")).toThrow('not a range this understands: "^24"');
  });
});
