/** How many tests came out how. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export function addTallies(left: Tally, right: Tally): Tally {
  return {
    passed: left.passed + right.passed,
    failed: left.failed + right.failed,
    skipped: left.skipped + right.skipped,
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
  };
}

function count(report: unknown, key: string): number {
  if (typeof report !== "object" || report === null) return 0;
  const value: unknown = Reflect.get(report, key);
  return typeof value === "number" ? value : 0;
}
