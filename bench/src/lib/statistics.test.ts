import { describe, expect, test } from "vitest";
import { median, type Point, quantile, slope } from "./statistics.ts";

const points = (values: readonly number[]): readonly Point[] =>
  values.map((value, index) => ({ seconds: index * 10, value }));

describe("median()", () => {
  test.each([
    ["the middle one of an odd number", [9, 1, 5], 5],
    ["the mean of the middle two of an even number", [4, 1, 3, 100], 3.5],
    ["the only one", [7], 7],
    ["nothing of nothing", [], Number.NaN],
  ])("gives %s", (_sentence, values, expected) => {
    expect(median(values)).toBe(expected);
  });
});

describe("quantile()", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  test.each([
    ["p99 of a hundred", hundred, 0.99, 99],
    ["the most of all", hundred, 1, 100],
    ["the only one", [7], 0.99, 7],
    ["nothing of nothing", [], 0.99, Number.NaN],
  ])("gives %s", (_sentence, values, share, expected) => {
    expect(quantile(values, share)).toBe(expected);
  });
});

describe("slope()", () => {
  test.each([
    ["a straight line", [0, 20, 40, 60], 2],
    ["a flat line", [5, 5, 5, 5], 0],
    ["a line with one wild point", [0, 20, 9000, 60, 80, 100, 120], 2],
    ["a single point", [3], 0],
    ["nothing", [], 0],
  ])("finds the growth a second of %s", (_sentence, values, expected) => {
    expect(slope(points(values))).toBeCloseTo(expected);
  });

  test("leaves out pairs of the same moment", () => {
    expect(
      slope([
        { seconds: 1, value: 1 },
        { seconds: 1, value: 5 },
      ]),
    ).toBe(0);
  });
});
