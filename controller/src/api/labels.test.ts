import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isLabelKey, isLabelValue, matchesSelector, parseLabelSelector } from "./labels.ts";

function matches(text: string, labels: Readonly<Record<string, string>>): boolean {
  const parsed = parseLabelSelector(text);
  if (parsed.kind === "invalid") throw new Error(parsed.problem);
  return matchesSelector(parsed.selector, labels);
}

describe("matchesSelector()", () => {
  test.each([
    ["a=b", { a: "b" }, true],
    ["a=b", { a: "c" }, false],
    ["a=b", {}, false],
    ["a==b", { a: "b" }, true],
    ["a!=b", { a: "b" }, false],
    ["a!=b", { a: "c" }, true],
    ["a!=b", {}, true],
    ["a=", { a: "" }, true],
    ["a=", { a: "b" }, false],
    ["a=,b", { a: "", b: "" }, true],
    ["a in (b,c)", { a: "c" }, true],
    ["a in (b,c)", { a: "d" }, false],
    ["a in (b,c)", {}, false],
    ["a in (b,)", { a: "" }, true],
    ["a in ()", { a: "" }, true],
    ["a notin (b,c)", { a: "c" }, false],
    ["a notin (b,c)", { a: "d" }, true],
    ["a notin (b,c)", {}, true],
    ["a", { a: "" }, true],
    ["a", {}, false],
    ["!a", { a: "" }, false],
    ["!a", {}, true],
    ["a>1", { a: "2" }, true],
    ["a>1", { a: "1" }, false],
    ["a>1", { a: "x" }, false],
    ["a<10", { a: "9" }, true],
    ["a<10", {}, false],
    ["a>9223372036854775806", { a: "9223372036854775808" }, false],
    ["in in (in),notin=notin", { in: "in", notin: "notin" }, true],
    ["example.com/cloud=west,!example.com/edge", { "example.com/cloud": "west" }, true],
    [" a = b , c in ( d , e ) , ! f ", { a: "b", c: "e" }, true],
    ["a=b,c=d", { a: "b" }, false],
    ["", { a: "b" }, true],
    ["", {}, true],
    ["toString", {}, false],
  ] as const)("%j of %j is %j", (text, labels, expected) => {
    expect(matches(text, labels)).toBe(expected);
  });

  test("a set is the same as its members one by one", () => {
    const word = fc.stringMatching(/^[a-z][a-z0-9.-]{0,8}[a-z0-9]$/);
    fc.assert(
      fc.property(word, fc.uniqueArray(word, { minLength: 1, maxLength: 4 }), word, (key, values, value) => {
        const labels = { [key]: value };
        const one = values.some((item) => matches(`${key}=${item}`, labels));
        expect(matches(`${key} in (${values.join(",")})`, labels)).toBe(one);
        expect(matches(`${key} notin (${values.join(",")})`, labels)).toBe(!one);
        expect(matches(values.map((item) => `${key}!=${item}`).join(), labels)).toBe(!one);
      }),
    );
  });
});

describe("parseLabelSelector()", () => {
  test.each([
    ["a=b=c", 'found "=" instead of a comma'],
    ["=b", 'found "=" instead of the key of a label'],
    ["a,", "found the end instead of the key of a label"],
    [",a", 'found "," instead of the key of a label'],
    ["a in b", 'found "b" instead of values in parentheses'],
    ["a in (b", "found the end instead of a comma or the closing parenthesis"],
    ["a in (b c)", 'found "c" instead of a comma or the closing parenthesis'],
    ["a b", 'found "b" instead of =, ==, !=, in, notin, < or > after a'],
    ["a<b", '"b" is not an integer, which < and > require'],
    ["!a=b", 'found "=" instead of a comma'],
    ["a=b c", 'found "c" instead of a comma'],
    ["a=-b", '"-b" cannot be the value of a label'],
    ["A.b/c/d=e", '"A.b/c/d" cannot be the key of a label'],
    [`${"k".repeat(64)}=e`, `"${"k".repeat(64)}" cannot be the key of a label`],
  ] as const)("refuses %j: %s", (text, problem) => {
    expect(parseLabelSelector(text)).toEqual({ kind: "invalid", problem });
  });

  test("never throws", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."ab=!,()<> in1-/".split("")) }), (text) => {
        expect(["selector", "invalid"]).toContain(parseLabelSelector(text).kind);
      }),
    );
  });
});

describe("label syntax", () => {
  const LONG = "a".repeat(63);
  const DOMAIN = `${"a.".repeat(126)}b`;

  describe("isLabelKey()", () => {
    test.each([
      "a",
      "A.b_c-d",
      LONG,
      "example.com/a",
      `x/${LONG}`,
      `${DOMAIN}/a`,
      "1.2/3",
      "a-b.c/d",
      "topology.kubernetes.io/zone",
    ])("takes %s", (key) => {
      expect(isLabelKey(key)).toBe(true);
    });

    test.each([
      "",
      "-a",
      "a-",
      ".a",
      "a b",
      `${LONG}a`,
      "/a",
      "a/",
      "a/b/c",
      "Example.com/a",
      "a..b/c",
      "-a/b",
      "a-/b",
      "a./b",
      "a_b/c",
      `${DOMAIN}b/a`,
      `x/${LONG}a`,
    ])("refuses %j", (key) => {
      expect(isLabelKey(key)).toBe(false);
    });
  });

  describe("isLabelValue()", () => {
    test.each(["", "a", "A.b_c-9", "north-a__north-b", LONG])("takes %j", (value) => {
      expect(isLabelValue(value)).toBe(true);
    });

    test.each(["-a", "a-", "_a", "a_", "a b", "a/b", `${LONG}a`, "ö"])("refuses %j", (value) => {
      expect(isLabelValue(value)).toBe(false);
    });
  });
});
