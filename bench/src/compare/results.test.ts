import { describe, expect, test } from "vitest";
import { type Measure, ratios, type Result, spreadOf, tableOf } from "./results.ts";

const NOTHING: Readonly<Record<Measure, number>> = {
  seconds: 0,
  cpuSeconds: 0,
  controllerRssMiB: 0,
  rssMiB: 0,
  peakRssMiB: 0,
  cloudCalls: 0,
  cloudChanges: 0,
  apiWrites: 0,
  events: 0,
};
const result = (peer: string, round: number, figures: Partial<Record<Measure, number>>): Result => ({
  scenario: "initialise",
  peer,
  round,
  figures: { ...NOTHING, ...figures },
});
const results = [
  result("upstream", 0, { seconds: 30, cloudCalls: 100 }),
  result("ours", 0, { seconds: 10, cloudCalls: 2 }),
  result("ours", 1, { seconds: 12, cloudCalls: 2 }),
  result("upstream", 1, { seconds: 24, cloudCalls: 100 }),
  result("upstream", 2, { seconds: 99 }),
];

test("spreadOf() gives the median with the least and the most", () => {
  expect(spreadOf([5, 1, 3])).toEqual({ median: 3, min: 1, max: 5 });
});

describe("ratios()", () => {
  test("divides within a round, and leaves out a round that one of both lacks", () => {
    expect(ratios(results, "upstream", "ours", "seconds")).toEqual([3, 2]);
  });

  test("has none where there is nothing to divide by", () => {
    expect(ratios(results, "upstream", "ours", "events")).toEqual([]);
  });
});

describe("tableOf()", () => {
  const [header, rule, seconds, cpu, , , , calls] = tableOf(results, "ours").split("\n");

  test("begins with the base, and has a ratio beside each other peer", () => {
    expect(header?.split("|").map((cell) => cell.trim())).toEqual(["", "", "ours", "upstream", "÷ ours", ""]);
    expect(rule).toMatch(/^\| -+ \| -+: \| -+: \| -+: \|$/);
  });

  test("gives medians, with their spread where there is one", () => {
    expect(seconds?.split("|").map((cell) => cell.trim())).toEqual([
      "",
      "seconds",
      "11 (10–12)",
      "30 (24–99)",
      "2.50× (2×–3×)",
      "",
    ]);
    expect(calls?.split("|").map((cell) => cell.trim())).toEqual([
      "",
      "calls of the cloud",
      "2",
      "100 (0–100)",
      "50×",
      "",
    ]);
  });

  test("says no ratio to nothing", () => {
    expect(cpu?.split("|").map((cell) => cell.trim())).toEqual(["", "CPU seconds", "0", "0", "", ""]);
  });
});
