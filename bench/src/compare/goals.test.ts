import { expect, test } from "vitest";
import { standings } from "./goals.ts";
import { CLOUDWIRE, UPSTREAM, UPSTREAM_TUNED } from "./names.ts";
import type { Measure, Result } from "./results.ts";

const SIZES = { nodes: 100, services: 10, joining: 5, steadyMs: 1000 };

const result = (scenario: string, peer: string, figures: Partial<Record<Measure, number>>): Result => ({
  scenario,
  peer,
  round: 0,
  figures: {
    seconds: 1,
    cpuSeconds: 1,
    controllerRssMiB: 1,
    rssMiB: 1,
    peakRssMiB: 1,
    cloudCalls: 1,
    cloudChanges: 1,
    apiWrites: 1,
    events: 1,
    ...figures,
  },
});

const standing = (results: readonly Result[], goal: RegExp, sizes = SIZES) =>
  standings(results, sizes)
    .filter((row) => goal.test(row.goal))
    .map(({ got, kind }) => [got, kind]);

test.each([
  [10, "10.000", "fail"],
  [40, "40.000", "pass"],
])("standings() takes upstream's %i times for a standing of %s: %s", (seconds, got, kind) => {
  const results = [result("initialise", CLOUDWIRE, {}), result("initialise", UPSTREAM, { seconds })];
  expect(standing(results, /at least 30×/)).toEqual([[got, kind]]);
});

test.each([
  [200, "2.000", "pass"],
  [300, "3.000", "fail"],
])("standings() counts %i writes for 100 nodes as %s: %s", (apiWrites, got, kind) => {
  expect(standing([result("initialise", CLOUDWIRE, { apiWrites })], /writes a node/)).toEqual([[got, kind]]);
});

test("standings() says nothing about what was not run, or of a cluster that is too small for the goal", () => {
  const results = [
    result("initialise", CLOUDWIRE, { controllerRssMiB: 40 }),
    result("initialise", UPSTREAM_TUNED, { controllerRssMiB: 100 }),
  ];
  expect(standing(results, /from 5,000 nodes/)).toEqual([["", "notMeasured"]]);
  expect(standing(results, /from 5,000 nodes/, { ...SIZES, nodes: 5000 })).toEqual([["0.400", "pass"]]);
  expect(standing(results, /restart/)).toEqual([
    ["", "notMeasured"],
    ["", "notMeasured"],
  ]);
});
