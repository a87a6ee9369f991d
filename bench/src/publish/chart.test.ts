import { describe, expect, test } from "vitest";
import { lineChart, ticksWithin } from "./chart.ts";

describe("ticksWithin()", () => {
  test.each([
    [1, 10, [1, 2, 5, 10]],
    [30, 250, [50, 100, 200]],
    [0.5, 2, [0.5, 1, 2]],
    [1, 100_000, [1, 10, 100, 1000, 10_000, 100_000]],
  ])("from %d to %d are %j", (min, max, ticks) => {
    expect(ticksWithin(min, max)).toEqual(ticks);
  });
});

describe("lineChart()", () => {
  const ours = {
    label: "ours",
    points: [
      { x: 10, y: 1 },
      { x: 1000, y: 10 },
    ],
  };
  const theirs = {
    label: "theirs & others",
    points: [
      { x: 10, y: 2 },
      { x: 1000, y: 10 },
    ],
  };
  const svg = lineChart({ title: "seconds", xTitle: "nodes", series: [ours, theirs] });

  test("draws a line with its marks for each series, over logarithmic axes", () => {
    expect(svg.match(/<path class="line"[^>]*d="([^"]*)"/g)).toEqual([
      '<path class="line" stroke="#0072b2" d="M70 340L540 50"',
      '<path class="line" stroke="#d55e00" d="M70 253L540 50"',
    ]);
    expect(svg.match(/<circle /g)).toHaveLength(2);
    expect(svg.match(/<rect /g)).toHaveLength(2);
  });

  test("names the axes' values and both lines, whose names do not cover each other", () => {
    expect(
      [...svg.matchAll(/<text [^>]*y="(\d+)"[^>]*>([^<]*)</g)].map(([, y, content]) => [Number(y), content]),
    ).toEqual([
      [25, "seconds"],
      [344, "1"],
      [257, "2"],
      [141, "5"],
      [54, "10"],
      [360, "10"],
      [360, "1,000"],
      [382, "nodes"],
      [54, "ours"],
      [72, "theirs &amp; others"],
    ]);
  });

  test("shows a single point in the middle", () => {
    const single = lineChart({ title: "t", xTitle: "x", series: [{ label: "a", points: [{ x: 5, y: 5 }] }] });
    expect(single).toContain('<circle cx="305" cy="195" r="4"');
  });
});
