import process from "node:process";
import { describe, expect, test } from "vitest";
import { addTallies, readTally } from "./test-summary.ts";

const report = (counts: Readonly<Record<string, unknown>>): string => JSON.stringify(counts);

const NONE: readonly string[] = [];

describe("readTally()", () => {
  test.each([
    [
      "counts a green run, todo tests as skipped",
      report({ numPassedTests: 7, numFailedTests: 0, numPendingTests: 2, numTodoTests: 1, numFailedTestSuites: 0 }),
      0,
      { passed: 7, failed: 0, skipped: 3, remarks: NONE },
    ],
    [
      "counts failed tests, not the suites around them as well",
      report({ numPassedTests: 7, numFailedTests: 1, numFailedTestSuites: 2 }),
      1,
      { passed: 7, failed: 1, skipped: 0, remarks: NONE },
    ],
    [
      "counts a file that could not be loaded beside a test that failed",
      report({
        numPassedTests: 7,
        numFailedTests: 1,
        testResults: [{ name: `${process.cwd()}/b.test.ts`, status: "failed", message: "", assertionResults: [] }],
      }),
      1,
      { passed: 7, failed: 2, skipped: 0, remarks: ["FAILED b.test.ts"] },
    ],
    [
      "counts a run that failed though every test passed",
      report({ numPassedTests: 7, numFailedTests: 0, numFailedTestSuites: 0 }),
      1,
      { passed: 7, failed: 1, skipped: 0, remarks: NONE },
    ],
    ["counts a run that left no report", undefined, 134, { passed: 0, failed: 1, skipped: 0, remarks: NONE }],
  ])("%s", (_sentence, text, exitCode, tally) => {
    expect(readTally(text, exitCode)).toEqual(tally);
  });

  test("remarks on what a person has to look at", () => {
    const tests = [
      { fullName: "steady", status: "passed", failureMessages: [] },
      { fullName: "flaky", status: "passed", failureMessages: ["too late\n  at a place"] },
      { fullName: "broken", status: "failed", failureMessages: ["wrong", "wrong"] },
      { fullName: "left out", status: "pending", failureMessages: [] },
    ];
    const files = [
      { name: `${process.cwd()}/a.test.ts`, status: "failed", message: "", assertionResults: tests },
      { name: `${process.cwd()}/b.test.ts`, status: "failed", message: "no set-up\nat all", assertionResults: [] },
      { name: `${process.cwd()}/c.test.ts`, status: "passed", message: "", assertionResults: [] },
    ];
    const text = JSON.stringify({ numPassedTests: 2, numFailedTests: 1, numPendingTests: 1, testResults: files });
    expect(readTally(text, 1).remarks).toEqual([
      "PASSED ONLY WHEN TRIED AGAIN, find out why: a.test.ts: flaky: too late",
      "FAILED a.test.ts: broken: wrong",
      "SKIPPED a.test.ts: left out",
      "FAILED b.test.ts: no set-up",
    ]);
  });
});

describe("addTallies()", () => {
  test("adds each count and keeps the names", () => {
    const left = { passed: 1, failed: 2, skipped: 3, remarks: ["a"] };
    const right = { passed: 10, failed: 20, skipped: 30, remarks: ["b"] };
    expect(addTallies(left, right)).toEqual({ passed: 11, failed: 22, skipped: 33, remarks: ["a", "b"] });
  });
});
