/** How many tests came out how. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Full names of tests that failed first and passed when tried again. */
  readonly flaky: readonly string[];
}

export const NO_TESTS: Tally = { passed: 0, failed: 0, skipped: 0, flaky: [] };

export function addTallies(left: Tally, right: Tally): Tally {
  return {
    passed: left.passed + right.passed,
    failed: left.failed + right.failed,
    skipped: left.skipped + right.skipped,
    flaky: [...left.flaky, ...right.flaky],
  };
}

/**
 * Counts vitest's JSON report. A run that failed counts at least one failure, however it failed: a file that could not be
 * loaded, an unhandled rejection after the last test, no report at all.
 */
export function readTally(report: string | undefined, exitCode: number): Tally {
  const counts: unknown = report === undefined ? {} : JSON.parse(report);
  const failed = count(counts, "numFailedTests");
  return {
    passed: count(counts, "numPassedTests"),
    failed: exitCode === 0 ? failed : Math.max(failed, count(counts, "numFailedTestSuites"), 1),
    skipped: count(counts, "numPendingTests") + count(counts, "numTodoTests"),
    flaky: list(counts, "testResults")
      .flatMap((file) => list(file, "assertionResults"))
      .filter((test) => property(test, "status") === "passed" && list(test, "failureMessages").length > 0)
      .map((test) => String(property(test, "fullName"))),
  };
}

function count(report: unknown, key: string): number {
  const value = property(report, key);
  return typeof value === "number" ? value : 0;
}

function list(report: unknown, key: string): readonly unknown[] {
  const value = property(report, key);
  return Array.isArray(value) ? value : [];
}

function property(of: unknown, key: string): unknown {
  return typeof of === "object" && of !== null ? Reflect.get(of, key) : undefined;
}
