import { expect, test } from "vitest";
import { listed, quoted } from "./objection.ts";

test.each([
  ["", '""'],
  ['a "b"', '"a \\"b\\""'],
  ["x".repeat(80), `"${"x".repeat(80)}"`],
  ["x".repeat(81), `"${"x".repeat(80)}…"`],
])("quoted() shows %j as %s", (text, expected) => {
  expect(quoted(text)).toBe(expected);
});

test.each([
  [[], "none"],
  [["a"], '"a"'],
  [["a", "b", "c", "d", "e"], '"a", "b", "c", "d", "e"'],
  [["a", "b", "c", "d", "e", "f", "g"], '"a", "b", "c", "d", "e" and 2 more'],
])("listed() shows %j as %s", (texts, expected) => {
  expect(listed(texts)).toBe(expected);
});
