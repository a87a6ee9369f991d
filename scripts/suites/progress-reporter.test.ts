import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ProgressReporter } from "./progress-reporter.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const files = (...names: readonly string[]) => names.map((name) => ({ moduleId: name, relativeModuleId: name }));

test("ProgressReporter says every 15 s how far the run is, until it ends", () => {
  const lines: string[] = [];
  const reporter = new ProgressReporter({
    write: (line) => lines.push(line),
    nowMs: () => Date.now(),
    everyMs: 15_000,
  });
  const [a, b] = [{ relativeModuleId: "a.test.ts" }, { relativeModuleId: "b.test.ts" }];
  reporter.onTestRunStart(files("a.test.ts", "b.test.ts", "c.test.ts"));
  vi.advanceTimersByTime(15_000);
  reporter.onTestModuleStart(a);
  reporter.onTestModuleStart(b);
  reporter.onTestCaseResult();
  reporter.onTestCaseResult();
  reporter.onTestModuleEnd(a);
  vi.advanceTimersByTime(60_000);
  reporter.onTestRunEnd();
  vi.advanceTimersByTime(60_000);
  expect([lines.length, lines[0], lines[4]]).toEqual([
    5,
    "-- 15.0 s: 0 of 3 files, 0 tests done",
    "-- 1 min 15 s: 1 of 3 files, 2 tests done; running: b.test.ts",
  ]);
});
