import { describe, expect, test } from "vitest";
import { allChecks } from "../checks/registry.ts";
import { fakeCheck } from "../test/fake-check.ts";
import { causesOf, explanation } from "./explain.ts";

describe("explanation()", () => {
  test("prints what a check is worth, what fails it, its rules and its requirements", () => {
    const check = fakeCheck("err.info.present", {
      title: "every error has its ErrorInfo",
      rules: ["ERR-1", "INF-1"],
      why: `It is ${"very ".repeat(30)}long.`,
      level: "R",
      profile: "instances",
      capability: "instances.list",
      fixtures: ["instance"],
      requires: ["info.fields.required"],
    });
    const text = explanation(check);
    expect(text).toMatch(
      /^err\.info\.present\n\n {2}every error has its ErrorInfo\.\n\nWhat it saves you from\n {2}It is very/,
    );
    expect(text).toContain("\n  ERR-1  Every error that a provider produces MUST carry exactly one");
    expect(text).toContain("\n  INF-1  `GetProviderInfo` MUST be served from memory");
    expect(text).toContain("  runs if   the provider claims instances and instances.list\n");
    expect(text).toContain("  needs     instance\n");
    expect(text).toContain("  requires  info.fields.required\n");
    expect(text).toMatch(/\nWhat usually fails it\n {2}- \S/);
    expect(text.split("\n").filter((line) => line.length > 110)).toEqual([]);
  });
});

describe("causesOf()", () => {
  test("has one for each check that counts", () => {
    const without = allChecks.filter(({ id, advisory }) => advisory !== true && causesOf(id).length === 0);
    expect(without.map(({ id }) => id)).toEqual([]);
  });
});
