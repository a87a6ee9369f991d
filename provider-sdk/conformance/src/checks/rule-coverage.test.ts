import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readRules } from "../../scripts/rule-texts.ts";
import { allChecks } from "./registry.ts";
import { ruleTexts } from "../gen/rule-texts.ts";
import { fakeCheck } from "../test/fake-check.ts";
import { coverageProblems, uncheckedRules } from "./rule-coverage.ts";

const specification = readFileSync(new URL("../../../../proto/README.md", import.meta.url), "utf8");

describe("readRules()", () => {
  test("takes rules from list items and from sentences, and no mention of one", () => {
    const text =
      "Intro. [A-1] One\n  goes on. [A-2] Two.\n\n- [B-1] Like [A-1] to\n  [A-2].\n- [B-2] Last.\n\nElse [B-1].";
    expect([...readRules(text)]).toEqual([
      ["A-1", "One goes on."],
      ["A-2", "Two."],
      ["B-1", "Like [A-1] to [A-2]."],
      ["B-2", "Last."],
    ]);
  });

  test("finds each id that the specification mentions", () => {
    const mentioned = new Set([...specification.matchAll(/\[([A-Z]+-\d+)\]/g)].map(([, id]) => id));
    expect(new Set(readRules(specification).keys())).toEqual(mentioned);
  });

  test("gave what the kit carries", () => {
    expect(ruleTexts).toEqual(Object.fromEntries(readRules(specification)));
  });
});

describe("coverageProblems()", () => {
  test("every rule has a check or a reason, and every check has rules that there are", () => {
    expect(coverageProblems(Object.keys(ruleTexts), allChecks, uncheckedRules)).toEqual([]);
  });

  test.each([
    ["a rule without either", ["A-1", "A-2"], ["A-1"], {}, "A-2 has neither a check nor a reason in uncheckedRules"],
    [
      "a rule with both",
      ["A-1"],
      ["A-1"],
      { "A-1": "why" },
      "A-1 has checks and is in uncheckedRules: remove it there",
    ],
    ["a check of an unknown rule", ["A-1"], ["A-1", "A-9"], {}, "a.one cites A-9, which is not in the specification"],
    ["a check without rules", [], [], {}, "a.one cites no rule"],
    [
      "a reason for an unknown rule",
      ["A-1"],
      ["A-1"],
      { "A-9": "why" },
      "uncheckedRules has A-9, which is not in the specification",
    ],
  ])("finds %s", (_what, rules, cited, reasons, wanted) => {
    expect(coverageProblems(rules, [fakeCheck("a.one", { rules: cited })], reasons)).toEqual([wanted]);
  });
});
