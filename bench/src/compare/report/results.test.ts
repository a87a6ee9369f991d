import { describe, expect, test } from "vitest";
import { type Measurements, projected, ratios, type Result, spreadOf, tableOf } from "./results.ts";

const run = (peer: string, round: number) => ({ scenario: "initialize", sizes: { nodes: 100 }, peer, round });
const result = (peer: string, round: number, measurements: Measurements): Result => ({
  kind: "measured",
  ...run(peer, round),
  measurements: { events: 0, ...measurements },
});
const results = [
  result("upstream", 0, { seconds: 30, cloudCalls: 100, cpuSeconds: 4 }),
  result("ours", 0, { seconds: 10, cloudCalls: 2, cpuSeconds: 0 }),
  result("ours", 1, { seconds: 12, cloudCalls: 2, eventLoopP99Ms: 12.34 }),
  result("upstream", 1, { seconds: 24, cloudCalls: 100 }),
  result("upstream", 2, { seconds: 99, cloudCalls: 0 }),
];

const cells = (line: string | undefined): readonly string[] => (line ?? "").split("|").map((cell) => cell.trim());

test("spreadOf() gives the median with the least and the most", () => {
  expect(spreadOf([5, 1, 3])).toEqual({ median: 3, min: 1, max: 5 });
});

describe("projected()", () => {
  test("takes the rest of the work to be done as fast as its beginning", () => {
    expect(projected(run("upstream", 0), { seconds: 100, share: 0.25 })).toEqual({
      kind: "projected",
      ...run("upstream", 0),
      share: 0.25,
      measurements: { seconds: 400 },
    });
  });

  test("knows nothing about a work of which nothing was done", () => {
    expect(projected(run("upstream", 0), { seconds: 100, share: 0 })).toMatchObject({
      kind: "failed",
      reason: "in 100 s nothing was done; give it more --patience",
    });
  });
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
  const lines = tableOf(results, "ours").split("\n");
  const [header, rule, seconds, cpu, calls] = lines;

  test("begins with the base, and has a ratio beside each other peer", () => {
    expect(cells(header)).toEqual(["", "", "ours", "upstream", "÷ ours", ""]);
    expect(rule).toMatch(/^\| -+ \| -+: \| -+: \| -+: \|$/);
  });

  test("gives medians, with their spread where there is one", () => {
    expect(cells(seconds)).toEqual(["", "seconds", "11 (10–12)", "30 (24–99)", "2.50× (2×–3×)", ""]);
    expect(cells(calls)).toEqual(["", "calls of the cloud", "2", "100 (0–100)", "50×", ""]);
  });

  test("says no ratio to nothing", () => {
    expect(cells(cpu)).toEqual(["", "CPU seconds", "0", "4", "", ""]);
  });

  test("has a row for each measure that at least one peer has", () => {
    expect(lines.map((line) => cells(line)[1])).toEqual([
      "",
      expect.stringMatching(/^-+$/),
      "seconds",
      "CPU seconds",
      "calls of the cloud",
      "events",
      "event loop late, p99, ms",
    ]);
    expect(cells(lines[6])).toEqual(["", "event loop late, p99, ms", "12.3", "", "", ""]);
  });

  test("lists projected and failed measurements below the table", () => {
    const failed: Result = { kind: "failed", ...run("ours", 1), reason: "the program ended\nits log" };
    const half = projected(run("upstream", 0), { seconds: 5, share: 0.5 });
    expect(tableOf([half, failed], "ours").split("\n\n").slice(1)).toEqual([
      "upstream, round 1: projected from the first 50 % of the work.",
      "ours, round 2: FAILED: the program ended",
    ]);
  });
});
