import fc from "fast-check";
import { expect, test } from "vitest";
import { fromNotation, toNotation, type Values } from "./series-notation.ts";

const none = undefined;

test.each<{ readonly values: Values; readonly text: string }>([
  { values: [], text: "" },
  { values: [1], text: "1" },
  { values: [1, 1, 1], text: "1+0x2" },
  { values: [0, 2, 4, 7], text: "0+2x2 7" },
  { values: [3, 2, 1], text: "3-1x2" },
  { values: [none, none, 5], text: "_x2 5" },
  { values: [5, none, 5, 5], text: "5 _ 5+0x1" },
  { values: [1, 5, 5], text: "1 5+0x1" },
  { values: [0.25, 0.5, 0.75], text: "0.25+0.25x2" },
])("toNotation() writes $text", ({ values, text }) => {
  expect(toNotation(values)).toBe(text);
});

test("fromNotation() reads what toNotation() has written", () => {
  const value = fc.oneof(
    fc.constant(none),
    fc.integer({ min: -5, max: 50 }),
    fc.integer().map((n) => n / 8),
  );
  fc.assert(
    fc.property(fc.array(value, { minLength: 1 }), (values) => {
      expect(fromNotation(toNotation(values))).toEqual(values);
    }),
  );
});

test("fromNotation() refuses what is no series", () => {
  expect(() => fromNotation("1 x3")).toThrow('"x3"');
});
