import { describe, expect, test } from "vitest";
import { formats } from "./formats.ts";
import { type CheckResult, profileResults, type Report, type CheckOutcome } from "./report.ts";

const result = (id: string, result: CheckOutcome): CheckResult => ({
  id,
  level: "S",
  profile: "core",
  title: `does <${id}>`,
  rules: ["INF-1"],
  result,
  elapsedMs: 12.345,
});
const finding = { message: 'the name is "My & Cloud"', expected: "a name", got: "two\nlines \u0007" };

const results = [
  result("info.good", { kind: "pass" }),
  result("info.bad", { kind: "fail", finding }),
  result("err.blocked", { kind: "blocked", by: "info.bad" }),
  result("err.left-out", { kind: "skip", reason: "capability", detail: "routes is not claimed" }),
  result("err.known", { kind: "known-fail", finding }),
  result("err.kit", { kind: "error", message: "RangeError: oops" }),
];

const report: Report = {
  schemaVersion: 2,
  kit: { version: "0.1.0", contractMajor: 1 },
  runId: "r",
  startTime: "2026-11-22T00:00:00.000Z",
  elapsedMs: 1_234,
  target: { endpoint: "unix:///p.sock" },
  provider: {
    name: "acme.example.com",
    version: "1.0.0",
    contractMajor: 1,
    contractMinor: 0,
    bootId: "b",
    capabilities: ["instances"],
    build: {},
  },
  level: "R",
  seed: 1,
  slowFactor: 1,
  profiles: profileResults(results),
  results,
};

describe("profileResults()", () => {
  test.each<[string, readonly CheckOutcome[], string | undefined]>([
    ["all passed", [{ kind: "pass" }], "conformant"],
    ["nothing that it lacks", [{ kind: "pass" }, { kind: "skip", reason: "capability", detail: "" }], "conformant"],
    ["a fixture that was not given", [{ kind: "pass" }, { kind: "skip", reason: "fixture", detail: "" }], "partial"],
    ["a check the user left out", [{ kind: "pass" }, { kind: "skip", reason: "user", detail: "" }], "partial"],
    ["a known failure", [{ kind: "pass" }, { kind: "known-fail", finding }], "partial"],
    ["a failure", [{ kind: "pass" }, { kind: "fail", finding }], "failed"],
    ["a fault of the kit", [{ kind: "error", message: "" }], "failed"],
    ["a level that was not asked for", [{ kind: "pass" }, { kind: "skip", reason: "level", detail: "" }], "conformant"],
    ["nothing that ran", [{ kind: "skip", reason: "level", detail: "" }], undefined],
  ])("evaluates %s", (_name, outcomes, wanted) => {
    const [profile] = profileResults(outcomes.map((outcome, index) => result(`a.c${index}`, outcome)));
    expect(profile?.result).toBe(wanted);
  });
});

describe("formats", () => {
  test("pretty prints failures in full and the rest in numbers", () => {
    expect(formats.pretty(report, false)).toBe(
      [
        "FAIL info.bad  does <info.bad> [INF-1]",
        '  the name is "My & Cloud"',
        "  expected  a name",
        "  got       two",
        "            lines \u0007",
        "",
        "KNOWN TO FAIL err.known  does <err.known> [INF-1]",
        '  the name is "My & Cloud"',
        "  expected  a name",
        "  got       two",
        "            lines \u0007",
        "",
        "KIT ERROR err.kit  does <err.kit> [INF-1]",
        "  internal error of the kit: RangeError: oops",
        "",
        "core: failed, 1 passed, 2 failed, 1 blocked, 1 known failures",
        "absence under refused credentials: NOT tested, under an outage: NOT tested",
        "1 blocked by: info.bad",
        "1 skipped: routes is not claimed",
        "what usually fails a check, and its rules in full: cloudwire-conformance explain info.bad",
        "acme.example.com 1.0.0, contract 1.0 · level R · kit 0.1.0 · seed 1 · 1.2 s",
        "",
      ].join("\n"),
    );
  });

  test("pretty names the command that writes a configuration where one is lacking", () => {
    const lacking = [
      result("info.lacking", { kind: "skip", reason: "fixture", detail: "the configuration has no instance" }),
    ];
    const reported = formats.pretty({ ...report, profiles: profileResults(lacking), results: lacking }, false);
    expect(reported).toContain("\nwhat a configuration can set: cloudwire-conformance init\n");
    expect(reported).not.toContain("explain");
  });

  test("tap numbers every check and says why some are left out", () => {
    expect(
      formats
        .tap(report)
        .split("\n")
        .filter((line) => /^(?:TAP|1\.\.|ok|not ok)/.test(line)),
    ).toEqual([
      "TAP version 14",
      "1..6",
      "ok 1 - info.good does <info.good>",
      "not ok 2 - info.bad does <info.bad>",
      "ok 3 - err.blocked does <err.blocked> # SKIP blocked by info.bad",
      "ok 4 - err.left-out does <err.left-out> # SKIP routes is not claimed",
      "not ok 5 - err.known does <err.known> # TODO known-fail",
      "not ok 6 - err.kit does <err.kit>",
    ]);
  });

  test("junit escapes what XML does not take", () => {
    const xml = formats.junit(report);
    expect(xml).toContain('<failure message="the name is &quot;My &amp; Cloud&quot;">');
    expect(xml).toContain(
      '<testsuites name="cloudwire-conformance acme.example.com" tests="6" failures="1" errors="1" skipped="3"',
    );
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/);
  });

  test("json is the report itself", () => {
    expect(JSON.parse(formats.json(report))).toEqual(report);
  });

  test("markdown has a row for each profile and a section for each failure", () => {
    const text = formats.markdown(report);
    expect(text).toContain("| core | **failed** | 1 | 2 | 1 | 0 | 1 |");
    expect(text.match(/^## .*$/gm)).toEqual(["## info.bad", "## err.kit"]);
  });
});
