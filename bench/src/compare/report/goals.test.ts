import { describe, expect, test } from "vitest";
import { goalResults } from "./goals.ts";
import { CLOUDWIRE, RAW_WRITER, UPSTREAM, UPSTREAM_TUNED } from "../peers/names.ts";
import type { Measurements, Result } from "./results.ts";
import type { Sizes } from "../scenarios/scenario.ts";
import { SCENARIOS } from "../scenarios/scenarios.ts";

const result = (scenario: string, peer: string, sizes: Sizes, measurements: Measurements): Result => ({
  kind: "measured",
  scenario,
  peer,
  sizes,
  round: 0,
  measurements,
});

const goalResult = (results: readonly Result[], goal: string) =>
  goalResults(SCENARIOS, results)
    .filter((row) => row.goal.includes(goal))
    .map(({ at, got, kind }) => [at, got, kind]);

const NODES = { nodes: 5000 };

describe("goalResults()", () => {
  test.each([
    [10, "10", "fail"],
    [40, "40", "pass"],
  ])("takes upstream's %i times for a goalResult of %s: %s", (seconds, got, kind) => {
    const results = [
      result("services", CLOUDWIRE, { services: 500 }, { seconds: 1 }),
      result("initialize", CLOUDWIRE, NODES, { seconds: 1 }),
      result("initialize", UPSTREAM, NODES, { seconds }),
    ];
    expect(goalResult(results, "initialize: faster than upstream")).toEqual([
      ["", "", "notMeasured"],
      ["5000 nodes", got, kind],
    ]);
  });

  test.each([
    [10_000, "2", "pass"],
    [15_000, "3", "fail"],
  ])("counts %i writes for 5,000 nodes as %s: %s", (apiWrites, got, kind) => {
    expect(goalResult([result("initialize", CLOUDWIRE, NODES, { apiWrites })], "writes a node")).toEqual([
      ["5000 nodes", got, kind],
    ]);
  });

  test("checks the scenario's own size if it was measured, or else the largest", () => {
    const at = (nodes: number, seconds: number): readonly Result[] => [
      result("initialize", CLOUDWIRE, { nodes }, { seconds }),
      result("initialize", RAW_WRITER, { nodes }, { seconds: 1 }),
    ];
    expect(goalResult([...at(1000, 1), ...at(15_000, 3)], "raw writes")).toEqual([["15000 nodes", "3", "fail"]]);
    expect(goalResult([...at(1000, 1), ...at(15_000, 3), ...at(5000, 1.25)], "raw writes")).toEqual([
      ["5000 nodes", "1.25", "pass"],
    ]);
  });

  test("checks memory only at the size of the goal", () => {
    const at = (nodes: number, controllerRssMiB: number): readonly Result[] => [
      result("initialize", CLOUDWIRE, { nodes }, { controllerRssMiB }),
      result("initialize", UPSTREAM_TUNED, { nodes }, { controllerRssMiB: 100 }),
    ];
    const goal = "RSS of the controller";
    expect(goalResult(at(1000, 10), goal)).toEqual([
      ["5000 nodes", "", "notMeasured"],
      ["15000 nodes", "", "notMeasured"],
    ]);
    expect(goalResult([...at(5000, 40), ...at(15_000, 40)], goal)).toEqual([
      ["5000 nodes", "0.4", "pass"],
      ["15000 nodes", "0.4", "fail"],
    ]);
  });

  test("says nothing about what was not run or has failed", () => {
    const failed: Result = {
      kind: "failed",
      scenario: "not-ready",
      sizes: NODES,
      peer: CLOUDWIRE,
      round: 0,
      reason: "",
    };
    expect(goalResult([failed], "not-ready")).toEqual([["", "", "notMeasured"]]);
  });

  test("holds projected seconds against measured ones", () => {
    const projected: Result = {
      kind: "projected",
      scenario: "not-ready",
      sizes: NODES,
      peer: UPSTREAM_TUNED,
      round: 0,
      share: 0.5,
      measurements: { seconds: 500 },
    };
    expect(goalResult([projected, result("not-ready", CLOUDWIRE, NODES, { seconds: 5 })], "not-ready")).toEqual([
      ["5000 nodes", "100", "pass"],
    ]);
  });
});
