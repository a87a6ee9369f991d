import { describe, expect, test } from "vitest";
import { fakeCheck } from "../test/fake-check.ts";
import { needsConsent, summarize } from "./plan-summary.ts";

const nothing = { loadBalancers: 0, routes: 0, atOnce: 0 };

describe("summarize()", () => {
  test("adds up what the checks that run make, and names those of which it is not known", () => {
    const planned = [
      { check: fakeCheck("a.reads", { level: "R" }) },
      { check: fakeCheck("a.one", { level: "M" }) },
      { check: fakeCheck("a.two", { level: "D", starts: true, hooks: ["cloudBlock"] }) },
      { check: fakeCheck("a.nothing", { level: "D", hooks: ["cloudBlock"] }) },
      { check: fakeCheck("a.new", { level: "X" }) },
      { check: fakeCheck("a.left", { level: "M" }), skip: { reason: "user", detail: "" } as const },
    ];
    const made = {
      "a.one": { loadBalancers: 2, routes: 0, atOnce: 2 },
      "a.two": { loadBalancers: 1, routes: 3, atOnce: 4 },
      "a.left": { loadBalancers: 9, routes: 9, atOnce: 9 },
      "a.nothing": nothing,
    };
    expect(summarize(planned, made)).toEqual({
      all: 6,
      runs: ["a.reads", "a.one", "a.two", "a.nothing", "a.new"],
      makes: { loadBalancers: 3, routes: 3, atOnce: 4 },
      unknown: ["a.new"],
      starts: ["a.two"],
      hooks: ["cloudBlock"],
    });
  });
});

describe("needsConsent()", () => {
  const summary = { all: 1, runs: [], makes: nothing, unknown: [], starts: [], hooks: [] };

  test.each([
    ["nothing is made", summary, undefined, false],
    ["a route is made", { ...summary, makes: { ...nothing, routes: 1 } }, undefined, true],
    ["a check is not in the table of what checks create", { ...summary, unknown: ["a.new"] }, undefined, true],
    [
      "it is created in a cloud for tests",
      { ...summary, makes: { ...nothing, routes: 1 } },
      "http://127.0.0.1:1",
      false,
    ],
  ])("where %s", (_what, given, testCloud, wanted) => {
    expect(needsConsent(given, testCloud)).toBe(wanted);
  });
});
