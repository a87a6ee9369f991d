import { expect, test } from "vitest";
import { CLOUDWIRE, UPSTREAM_TUNED } from "../compare/peers/names.ts";
import type { Measurements, Result } from "../compare/report/results.ts";
import { plotsOf } from "./plots.ts";

const result = (peer: string, nodes: number, round: number, measurements: Measurements): Result => ({
  kind: "measured",
  scenario: "initialize",
  sizes: { nodes },
  peer,
  round,
  measurements,
});

test("plotsOf() draws the medians of what was measured at several sizes, and nothing else", () => {
  const plots = plotsOf([
    result(CLOUDWIRE, 10, 0, { seconds: 1 }),
    result(CLOUDWIRE, 100, 0, { seconds: 10, cloudCalls: 0 }),
    result(CLOUDWIRE, 100, 1, { seconds: 10 }),
    result(CLOUDWIRE, 100, 2, { seconds: 99 }),
    result(UPSTREAM_TUNED, 100, 0, { seconds: 50, cloudCalls: 100 }),
  ]);
  expect([...plots.keys()]).toEqual(["performance-seconds.svg"]);
  expect(plots.get("performance-seconds.svg")?.svg.match(/class="line"[^>]*/g)).toEqual([
    'class="line" stroke="#0072b2" d="M70 340L540 50"/',
  ]);
});
