import { describe, expect, test } from "vitest";
import type { Check } from "../suite/check.ts";
import { badgeJson, badgeOf, badgeSvg } from "./badge.ts";
import { html } from "./html.ts";
import { mergeReports } from "./merge.ts";
import { parseReport } from "./schema.ts";
import { type CheckResult, hasFailed, profileResults, type Report, type CheckOutcome } from "./report.ts";
import { reportProblems } from "./verify.ts";

const finding = {
  message: 'the name is <My> & "Cloud"',
  exchange: { path: "/a/B", requestBytes: 5, headers: {}, elapsedMs: 1, response: "OK" },
};
const about = { level: "R", profile: "core", title: "holds", rules: ["INF-1"] } as const;
const result = (id: string, result: CheckOutcome): CheckResult => ({ ...about, id, result, elapsedMs: 1 });
const checks: readonly Check[] = ["a.one", "a.two"].map((id) => ({
  ...about,
  id,
  why: "",
  run: async () => undefined,
}));

const reportOf = (outcomes: Readonly<Record<string, CheckOutcome>>, more: Partial<Report> = {}): Report => {
  const results = Object.entries(outcomes).map(([id, outcome]) => result(id, outcome));
  return {
    schemaVersion: 2,
    kit: { version: "0.1.0", contractMajor: 1 },
    runId: "r",
    startTime: "2026-11-22T00:00:00.000Z",
    elapsedMs: 10,
    target: { endpoint: "unix:///p.sock" },
    provider: {
      name: "acme.example.com",
      version: "1.0.0",
      contractMajor: 1,
      contractMinor: 0,
      bootId: "b",
      capabilities: [],
      build: {},
    },
    level: "R",
    seed: 1,
    slowFactor: 1,
    profiles: profileResults(results),
    results,
    ...more,
  };
};
const pass: CheckOutcome = { kind: "pass" };
const fail: CheckOutcome = { kind: "fail", finding };
const leftOut: CheckOutcome = { kind: "skip", reason: "user", detail: "skipped by the user" };
const good = reportOf({ "a.one": pass, "a.two": pass });

describe("hasFailed()", () => {
  const blocked = (by: string): CheckOutcome => ({ kind: "blocked", by });
  const known: CheckOutcome = { kind: "known-fail", finding };

  test.each<[string, Readonly<Record<string, CheckOutcome>>, boolean]>([
    ["nothing failed", { "a.one": pass, "a.two": leftOut }, false],
    ["a check failed", { "a.one": pass, "a.two": fail }, true],
    ["the provider was lost", { "a.one": pass, "a.two": blocked("the provider is gone") }, true],
    [
      "a known failure blocks others",
      { "a.one": known, "a.two": blocked("a.one"), "a.three": blocked("a.two") },
      false,
    ],
  ])("where %s", (_what, outcomes, wanted) => {
    expect(hasFailed(reportOf(outcomes))).toBe(wanted);
  });
});

describe("parseReport()", () => {
  test("reads what the kit writes", () => {
    const report = reportOf({ "a.one": fail, "a.two": leftOut });
    expect(parseReport(JSON.stringify(report), "r.json")).toEqual(report);
  });

  test.each([
    ["[", /^r\.json is no JSON: .*; give the file that --format json wrote$/],
    ["{}", /^r\.json is no report of this kit: the file must have required properties schemaVersion/],
    [JSON.stringify({ ...good, level: "Z" }), /\/level must be equal to one of the allowed values/],
  ])("refuses %j", (text, wanted) => {
    expect(() => parseReport(text, "r.json")).toThrow(wanted);
  });
});

describe("reportProblems()", () => {
  test("finds nothing in a report as the kit writes it", () => {
    expect(reportProblems(good, checks)).toEqual([]);
  });

  test.each<[string, Report, readonly string[]]>([
    ["a check that is missing", reportOf({ "a.one": pass }), ["a.two is missing"]],
    [
      "one that there is not",
      reportOf({ "a.one": pass, "a.two": pass, "a.three": pass }),
      ["a.three is no check of this kit"],
    ],
    [
      "one that differs from the kit",
      { ...good, results: good.results.map((each, index) => (index === 0 ? { ...each, level: "S" as const } : each)) },
      ["a.one differs from the kit's check"],
    ],
    [
      "one that is there twice",
      { ...good, results: [...good.results, result("a.two", leftOut)] },
      ["a.two is in it twice"],
    ],
    [
      "sums that do not add up",
      { ...reportOf({ "a.one": pass, "a.two": fail }), profiles: good.profiles },
      ["the profiles say core conformant (2/2), and the results add up to core failed (1/2)"],
    ],
    [
      "an excuse that does not hold",
      reportOf({ "a.one": pass, "a.two": { kind: "skip", reason: "level", detail: "" } }),
      ["a.two was left out for its level, R, but the run was of level R"],
    ],
    [
      "another kit's checks",
      reportOf({ "b.any": pass }, { kit: { version: "0.0.9", contractMajor: 1 } }),
      ["it is of kit 0.0.9, and only that kit knows its checks; this is 0.1.0"],
    ],
  ])("finds %s", (_name, report, wanted) => {
    expect(reportProblems(report, checks)).toEqual(expect.arrayContaining([...wanted]));
  });
});

describe("mergeReports()", () => {
  test("keeps the worst of each check, what ran before what was left out, and the lowest level", () => {
    const merged = mergeReports([
      reportOf({ "a.one": pass, "a.two": leftOut }, { level: "D" }),
      reportOf({ "a.one": fail, "a.two": pass }),
    ]);
    expect(merged.results.map(({ id, result }) => [id, result.kind])).toEqual([
      ["a.one", "fail"],
      ["a.two", "pass"],
    ]);
    expect(merged).toMatchObject({
      level: "R",
      elapsedMs: 20,
      profiles: [{ result: "failed", passed: 1, failed: 1 }],
    });
  });

  test("refuses reports of different providers, and none", () => {
    const other = reportOf({ "a.one": pass }, { provider: { ...good.provider, version: "2.0.0" } });
    expect(() => mergeReports([good, other])).toThrow("not of the same version of it: 1.0.0 and 2.0.0");
    expect(() => mergeReports([])).toThrow("there is nothing to merge");
  });
});

describe("badgeOf()", () => {
  const conformant = { passed: 1, failed: 0, blocked: 0, skipped: 0, knownFailures: 0, result: "conformant" } as const;
  const core = { ...conformant, name: "core" } as const;
  const resilience = { ...conformant, name: "resilience" } as const;

  test.each<[string, Report["profiles"], readonly string[], string, string]>([
    ["all that is claimed", [core, resilience], [], "conformant core + resilience", "brightgreen"],
    ["a claim that was not tested", [core, resilience], ["instances"], "partial 2/3", "yellow"],
    ["an add-on that is not whole", [core, { ...resilience, result: "partial" }], [], "conformant core", "brightgreen"],
    ["one with an excuse", [core, { ...resilience, result: "partial", knownFailures: 1 }], [], "partial 1/2", "yellow"],
    ["core that is not whole", [{ ...core, result: "partial" }], [], "partial 0/1", "yellow"],
    ["a failure", [core, { ...resilience, result: "failed" }], [], "failed resilience", "red"],
  ])("evaluates %s", (_name, profiles, capabilities, message, color) => {
    const badge = badgeOf({ ...good, profiles, provider: { ...good.provider, capabilities } });
    expect(badge).toEqual({
      label: "cloudprovider.v1",
      message: `${message} · contract 1.0 · kit 0.1.0 · level R`,
      color,
    });
  });

  test("is written as a picture and for shields.io", () => {
    const badge = { label: "a", message: "b <c>", color: "red" } as const;
    expect(JSON.parse(badgeJson(badge))).toEqual({ schemaVersion: 1, ...badge });
    expect(badgeSvg(badge)).toMatch(/^<svg .*aria-label="a: b &lt;c&gt;">\n[^]*<\/svg>\n$/);
  });
});

describe("html()", () => {
  test("shows every check, escaped, and may load nothing", () => {
    const page = html(reportOf({ "a.one": pass, "a.two": fail }));
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/<script|src=|href=|url\(/);
    expect(page).toContain("the name is &lt;My&gt; &amp; &quot;Cloud&quot;");
    expect(page.match(/<details/g)).toHaveLength(3);
    expect(page.match(/<details open/g)).toHaveLength(1);
  });
});
