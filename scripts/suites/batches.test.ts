import { describe, expect, test } from "vitest";
import { type Batch, stagesOf } from "./batches.ts";
import { NO_TESTS } from "./test-summary.ts";

function batch(suites: readonly string[], besideNext = false): Batch {
  return { suites, tier: "full", prepare: async () => undefined, work: async () => NO_TESTS, besideNext };
}

const BATCHES = [
  batch(["unit", "component"]),
  batch(["selftest"], true),
  batch(["go"], true),
  batch(["python"]),
  batch(["page"]),
];

describe("stagesOf()", () => {
  test.each([
    [
      "one batch after the other, but those that run beside the next",
      ["unit", "selftest", "go", "python", "page"],
      [["unit"], ["selftest", "go", "python"], ["page"]],
    ],
    ["a batch of which one suite runs", ["component", "page"], [["unit"], ["page"]]],
    ["two batches whose neighbor between them does not run", ["selftest", "python"], [["selftest", "python"]]],
    ["nothing", [], []],
  ])("runs %s", (_sentence, suites, stages) => {
    expect(stagesOf(BATCHES, suites).map((stage) => stage.map((one) => one.suites[0]))).toEqual(stages);
  });
});
