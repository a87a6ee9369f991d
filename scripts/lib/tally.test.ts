import { describe, expect, test } from "vitest";
import { addTallies, readTally } from "./tally.ts";

const report = (counts: Readonly<Record<string, number>>): string => JSON.stringify(counts);

const NO_FLAKES: readonly string[] = [];

describe("readTally()", () => {
  test.each([
    [
      "counts a green run, todo tests as skipped",
      report({ numPassedTests: 7, numFailedTests: 0, numPendingTests: 2, numTodoTests: 1, numFailedTestSuites: 0 }),
      0,
      { passed: 7, failed: 0, skipped: 3, flaky: NO_FLAKES },
    ],
    [
      "counts failed tests, not the suites around them as well",
      report({ numPassedTests: 7, numFailedTests: 3, numFailedTestSuites: 2 }),
      1,
      { passed: 7, failed: 3, skipped: 0, flaky: NO_FLAKES },
    ],
    [
      "counts a file that could not be loaded",
      report({ numPassedTests: 7, numFailedTests: 0, numFailedTestSuites: 1 }),
      1,
      { passed: 7, failed: 1, skipped: 0, flaky: NO_FLAKES },
    ],
    [
      "counts a run that failed though every test passed",
      report({ numPassedTests: 7, numFailedTests: 0, numFailedTestSuites: 0 }),
      1,
      { passed: 7, failed: 1, skipped: 0, flaky: NO_FLAKES },
    ],
    ["counts a run that left no report", undefined, 134, { passed: 0, failed: 1, skipped: 0, flaky: NO_FLAKES }],
  ])("%s", (_sentence, text, exitCode, tally) => {
    expect(readTally(text, exitCode)).toEqual(tally);
  });

  test("names the tests that passed only when tried again", () => {
    const tests = [
      { fullName: "steady", status: "passed", failureMessages: [] },
      { fullName: "flaky", status: "passed", failureMessages: ["too late"] },
      { fullName: "broken", status: "failed", failureMessages: ["too late", "too late"] },
    ];
    const text = JSON.stringify({ numPassedTests: 2, numFailedTests: 1, testResults: [{ assertionResults: tests }] });
    expect(readTally(text, 1)).toEqual({ passed: 2, failed: 1, skipped: 0, flaky: ["flaky"] });
  });
});

describe("addTallies()", () => {
  test("adds each count and keeps the names", () => {
    const left = { passed: 1, failed: 2, skipped: 3, flaky: ["a"] };
    const right = { passed: 10, failed: 20, skipped: 30, flaky: ["b"] };
    expect(addTallies(left, right)).toEqual({ passed: 11, failed: 22, skipped: 33, flaky: ["a", "b"] });
  });
});
