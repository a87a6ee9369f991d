import { relative } from "node:path";
import process from "node:process";

/** How many tests came out how. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** What a person has to look at: the last thing a run prints, since a long run's beginning is easily lost. */
  readonly remarks: readonly string[];
}

export const NO_TESTS: Tally = { passed: 0, failed: 0, skipped: 0, remarks: [] };

export function addTallies(left: Tally, right: Tally): Tally {
  return {
    passed: left.passed + right.passed,
    failed: left.failed + right.failed,
    skipped: left.skipped + right.skipped,
    remarks: [...left.remarks, ...right.remarks],
  };
}

/**
 * Counts vitest's JSON report. A run that failed counts at least one failure, however it failed: a file that could not be
 * loaded, an unhandled rejection after the last test, no report at all.
 */
export function readTally(report: string | undefined, exitCode: number): Tally {
  const counts: unknown = report === undefined ? {} : JSON.parse(report);
  const files = list(counts, "testResults");
  const failed = count(counts, "numFailedTests") + files.filter(failedAsAWhole).length;
  return {
    passed: count(counts, "numPassedTests"),
    failed: exitCode === 0 ? failed : Math.max(failed, 1),
    skipped: count(counts, "numPendingTests") + count(counts, "numTodoTests"),
    remarks: files.flatMap(remarksOfFile),
  };
}

/** It could not be loaded, or what its tests need could not be set up. */
function failedAsAWhole(file: unknown): boolean {
  const failed = (of: unknown): boolean => property(of, "status") === "failed";
  return failed(file) && !list(file, "assertionResults").some(failed);
}

function remarksOfFile(file: unknown): readonly string[] {
  const path = relative(process.cwd(), text(file, "name"));
  const tests = list(file, "assertionResults");
  return [
    ...(failedAsAWhole(file) ? [remark("FAILED", path, text(file, "message"))] : []),
    ...tests.flatMap((test) => remarksOfTest(path, test)),
  ];
}

function remarksOfTest(path: string, test: unknown): readonly string[] {
  const name = `${path}: ${text(test, "fullName")}`;
  const [message] = list(test, "failureMessages");
  switch (property(test, "status")) {
    case "passed":
      return message === undefined ? [] : [remark("PASSED ONLY WHEN TRIED AGAIN, find out why:", name, message)];
    case "failed":
      return [remark("FAILED", name, message)];
    default:
      return [`SKIPPED ${name}`];
  }
}

/** Only the first line of the message: the rest was printed where it happened. */
function remark(what: string, name: string, message: unknown): string {
  const [line = ""] = typeof message === "string" ? message.split("\n") : [];
  return line === "" ? `${what} ${name}` : `${what} ${name}: ${line}`;
}

function text(of: unknown, key: string): string {
  const value = property(of, key);
  return typeof value === "string" ? value : "";
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
