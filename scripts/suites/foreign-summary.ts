import { NO_TESTS, type Tally } from "./test-summary.ts";

/**
 * Counts what `go test -json` said: tests without tests below them, so that a table's cases count and the table does not. A run that
 * failed counts at least one failure: a package may not even compile.
 */
export function readGoTally(output: string, exitCode: number): Tally {
  const outcomes = new Map<string, string>();
  for (const line of output.split("\n")) {
    const { Action: action, Package: name, Test: test } = parseLine(line);
    if (test === undefined) continue;
    if (action === "pass" || action === "fail" || action === "skip") outcomes.set(`${name}\0${test}`, action);
  }
  const names = [...outcomes.keys()];
  const leaves = names.filter((name) => !names.some((other) => other.startsWith(`${name}/`)));
  const count = (action: string): number => leaves.filter((name) => outcomes.get(name) === action).length;
  const failed = count("fail");
  const named = (action: string, what: string): readonly string[] =>
    leaves.filter((name) => outcomes.get(name) === action).map((name) => `${what} ${name.replace("\0", " ")}`);
  return {
    ...NO_TESTS,
    passed: count("pass"),
    failed: exitCode === 0 ? failed : Math.max(failed, 1),
    skipped: count("skip"),
    remarks: [...named("fail", "FAILED"), ...named("skip", "SKIPPED")],
  };
}

/** The human-readable part of `go test -json`: the output of the packages that failed. */
export function readGoFailures(output: string): string {
  const lines = output.split("\n").map(parseLine);
  const failed = new Set(lines.filter(({ Action }) => Action === "fail").map(({ Package }) => Package));
  const isShown = ({ Action, Package }: GoEvent): boolean =>
    Action === "build-output" || (Action === "output" && failed.has(Package));
  return lines
    .filter(isShown)
    .map(({ Output }) => Output)
    .join("");
}

/** A test that did not just pass: where it is, its name, and what became of it. */
const JUNIT_REMARK = /<testcase classname="([^"]*)" name="([^"]*)"[^>]*[^/>]>\s*<(failure|error|skipped)/g;

/** Counts a JUnit report, which pytest writes. Likewise with a run that failed. */
export function readJunitTally(report: string | undefined, exitCode: number): Tally {
  const suites = [...(report ?? "").matchAll(/<testsuite (?<attributes>[^>]*)>/g)];
  const sum = (name: string): number =>
    suites.reduce((total, { groups }) => {
      const [, count = "0"] = new RegExp(` ${name}="(\\d+)"`).exec(` ${groups?.["attributes"] ?? ""}`) ?? [];
      return total + Number(count);
    }, 0);
  const failed = sum("failures") + sum("errors");
  const skipped = sum("skipped");
  return {
    ...NO_TESTS,
    passed: sum("tests") - failed - skipped,
    failed: exitCode === 0 ? failed : Math.max(failed, 1),
    skipped,
    remarks: [...(report ?? "").matchAll(JUNIT_REMARK)].map(
      ([, directory = "", name = "", what = ""]) => `${what === "skipped" ? "SKIPPED" : "FAILED"} ${directory} ${name}`,
    ),
  };
}

interface GoEvent {
  readonly Action?: string | undefined;
  readonly Package?: string | undefined;
  readonly Test?: string | undefined;
  readonly Output?: string | undefined;
}

/** Lines that are not JSON are the go tool's own. */
function parseLine(line: string): GoEvent {
  if (!line.startsWith("{")) return line === "" ? {} : { Action: "build-output", Output: `${line}\n` };
  const value: unknown = JSON.parse(line);
  const field = (key: string): string | undefined => {
    const text: unknown = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
    return typeof text === "string" ? text : undefined;
  };
  return { Action: field("Action"), Package: field("Package"), Test: field("Test"), Output: field("Output") };
}
