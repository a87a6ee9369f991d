import { describe, expect, test } from "vitest";
import { parseFieldSelector } from "./field-selector.ts";

const known = ["metadata.name", "spec.type"];
const fields = { "metadata.name": "n", "spec.type": "a,b=c" };

describe("parseFieldSelector()", () => {
  test.each([
    ["metadata.name=n", true],
    ["metadata.name==n", true],
    ["metadata.name=m", false],
    ["metadata.name!=m", true],
    ["metadata.name!=n", false],
    ["spec.type=a\\,b\\=c", true],
    ["metadata.name=n,spec.type!=x", true],
    ["metadata.name=n,", true],
    ["metadata.name=", false],
  ])("%s is %s", (selector, expected) => {
    expect(parseFieldSelector(selector, known)?.(fields)).toBe(expected);
  });

  test("selects everything when it is empty", () => {
    expect(parseFieldSelector("", known)).toBeUndefined();
  });

  test.each([
    ["spec.other=1", known, "field label not supported: spec.other"],
    [
      "spec.other=1",
      ["metadata.name"],
      '"spec.other" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    ["metadata.name", known, "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
  ])("refuses %s", (selector, supported, message) => {
    expect(() => parseFieldSelector(selector, supported)).toThrow(expect.objectContaining({ code: 400, message }));
  });
});
