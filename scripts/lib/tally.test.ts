import { describe, expect, test } from "vitest";
import { addTallies, readTally } from "./tally.ts";

const report = (counts: Readonly<Record<string, number>>): string => JSON.stringify(counts);

describe("readTally()", () => {
  test.each([
    [
      "counts a green run, todo tests as skipped",
      report({ numPassedTests: 7, numFailedTests: 0, numPendingTests: 2, numTodoTests: 1, numFailedTestSuites: 0 }),
      0,
      { passed: 7, failed: 0, skipped: 3 },
    ],
    [
      "counts failed tests, not the suites around them as well",
      report({ numPassedTests: 7, numFailedTests: 3, numFailedTestSuites: 2 }),
      1,
      { passed: 7, failed: 3, skipped: 0 },
    ],
    [
      "counts a file that could not be loaded",
      report({ numPassedTests: 7, numFailedTests: 0, numFailedTestSuites: 1 }),
      1,
      { passed: 7, failed: 1, skipped: 0 },
    ],
    [
      "counts a run that failed though every test passed",
      report({ numPassedTests: 7, numFailedTests: 0, numFailedTestSuites: 0 }),
      1,
      { passed: 7, failed: 1, skipped: 0 },
    ],
    ["counts a run that left no report", undefined, 134, { passed: 0, failed: 1, skipped: 0 }],
  ])("%s", (_sentence, text, exitCode, tally) => {
    expect(readTally(text, exitCode)).toEqual(tally);
  });
});

describe("addTallies()", () => {
  test("adds each count", () => {
    expect(addTallies({ passed: 1, failed: 2, skipped: 3 }, { passed: 10, failed: 20, skipped: 30 })).toEqual({
      passed: 11,
      failed: 22,
      skipped: 33,
    });
  });
});
