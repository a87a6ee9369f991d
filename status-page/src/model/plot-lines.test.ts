import { expect, test } from "vitest";
import { linePath, seriesOf, topOf } from "./plot-lines.ts";

const FRAME = { fromMs: 1_000, toMs: 2_000, top: 10, width: 100, height: 50 };

test("linePath() goes from left to right, with 0 at the bottom", () => {
  const points = [
    { atMs: 1_000, value: 0 },
    { atMs: 1_500, value: 5 },
    { atMs: 2_000, value: 10 },
  ];
  expect(linePath(points, FRAME)).toBe("M0.0 50.0L50.0 25.0L100.0 0.0");
});

test("linePath() leaves out what is older than the frame, and cuts what is above it", () => {
  const points = [
    { atMs: 900, value: 3 },
    { atMs: 1_500, value: 99 },
  ];
  expect(linePath(points, FRAME)).toBe("M50.0 0.0");
  expect(linePath([], FRAME)).toBe("");
});

test.each([
  [[], 1],
  [[0.2], 1],
  [[1], 1],
  [[1.2], 2],
  [[4, 3], 5],
  [[7], 10],
  [[11], 20],
  [[230], 500],
])("topOf() of %j is %d", (values, top) => {
  expect(topOf([{ name: "a", points: values.map((value) => ({ atMs: 0, value })) }])).toBe(top);
});

test("seriesOf() makes a line for each name, with 0 where a sample lacks it", () => {
  const samples = [
    { atMs: 1, rates: { b: 2 } },
    { atMs: 2, rates: { a: 1, b: 3 } },
  ];
  expect(
    seriesOf<{ readonly atMs: number; readonly rates: Readonly<Record<string, number>> }>(
      samples,
      ({ rates }) => rates,
    ),
  ).toEqual([
    {
      name: "a",
      points: [
        { atMs: 1, value: 0 },
        { atMs: 2, value: 1 },
      ],
    },
    {
      name: "b",
      points: [
        { atMs: 1, value: 2 },
        { atMs: 2, value: 3 },
      ],
    },
  ]);
});
