import { describe, expect, test } from "vitest";
import { readGoFailures, readGoTally, readJunitTally } from "./foreign-summary.ts";

const events = (...list: readonly object[]): string => list.map((event) => `${JSON.stringify(event)}\n`).join("");
const done = (Package: string, Test: string, Action: string): object => ({ Package, Test, Action });

describe("readGoTally()", () => {
  test.each([
    ["counts the cases of a table, not the table", ["T", "T/a", "T/b"], 0, { passed: 2, failed: 0, skipped: 0 }],
    ["counts a name that begins like another", ["T", "Table"], 0, { passed: 2, failed: 0, skipped: 0 }],
    ["counts a run in which nothing was compiled", [], 2, { passed: 0, failed: 1, skipped: 0 }],
  ])("%s", (_sentence, names, exitCode, tally) => {
    const output = events(...names.map((name) => done("p", name, "pass")));
    expect(readGoTally(output, exitCode)).toEqual({ ...tally, remarks: [] });
  });

  test("distinguishes what passed, failed and was skipped, and the same test of two packages", () => {
    const output = events(
      { Action: "start", Package: "p" },
      done("p", "T", "run"),
      done("p", "T", "fail"),
      done("q", "T", "pass"),
      done("q", "U", "skip"),
      { Action: "fail", Package: "p" },
    );
    expect(readGoTally(output, 1)).toEqual({
      passed: 1,
      failed: 1,
      skipped: 1,
      remarks: ["FAILED p T", "SKIPPED q U"],
    });
  });
});

describe("readGoFailures()", () => {
  test("returns the output of failed packages and of the compiler", () => {
    const output = `go: no such module\n${events(
      { Action: "output", Package: "p", Output: "want 1\n" },
      { Action: "output", Package: "q", Output: "fine\n" },
      { Action: "fail", Package: "p" },
    )}`;
    expect(readGoFailures(output)).toBe("go: no such module\nwant 1\n");
  });
});

describe("readJunitTally()", () => {
  const report = (attributes: string): string =>
    `<testsuites name="x"><testsuite ${attributes}><testcase/></testsuite>`;

  test.each([
    ["a green run", report('name="pytest" errors="0" failures="0" skipped="2" tests="9"'), 0, [7, 0, 2]],
    ["errors and failures", report('name="pytest" errors="1" failures="2" skipped="0" tests="9"'), 1, [6, 3, 0]],
    ["a run that failed without a failed test", report('errors="0" failures="0" skipped="0" tests="3"'), 3, [3, 1, 0]],
    ["a run that left no report", undefined, 4, [0, 1, 0]],
  ])("counts %s", (_sentence, text, exitCode, [passed, failed, skipped]) => {
    expect(readJunitTally(text, exitCode)).toEqual({ passed, failed, skipped, remarks: [] });
  });

  test("names what failed and what was skipped", () => {
    const text = `<testsuite errors="0" failures="1" skipped="1" tests="3">
      <testcase classname="a.b" name="fine" time="0.1"/>
      <testcase classname="a.b" name="broken" time="0.1"><failure message="no">…</failure></testcase>
      <testcase classname="a.c" name="left_out" time="0.0"><skipped message="why"/></testcase></testsuite>`;
    expect(readJunitTally(text, 1).remarks).toEqual(["FAILED a.b broken", "SKIPPED a.c left_out"]);
  });
});
