import { describe, expect, test } from "vitest";
import { parseLabelSelector } from "./label-selector.ts";

describe("parseLabelSelector()", () => {
  test.each([
    ["a=1", { a: "1" }, true],
    ["a=1", { a: "2" }, false],
    ["a=1", {}, false],
    ["a==1", { a: "1" }, true],
    ["a!=1", { a: "2" }, true],
    ["a!=1", {}, true],
    ["a in (1,2)", { a: "2" }, true],
    ["a in ( 1 , 2 )", { a: "3" }, false],
    ["a notin (1)", {}, true],
    ["a notin (1)", { a: "1" }, false],
    ["a in ()", { a: "" }, true],
    ["a", { a: "" }, true],
    ["a", {}, false],
    ["!a", {}, true],
    ["!a", { a: "1" }, false],
    ["a>1", { a: "2" }, true],
    ["a>1", { a: "1" }, false],
    ["a>1", { a: "x" }, false],
    ["a<-1", { a: "-2" }, true],
    ["a=", { a: "" }, true],
    ["a=1,b=2", { a: "1", b: "2" }, true],
    ["a=1,b=2", { a: "1" }, false],
    ["in in (in)", { in: "in" }, true],
    ["a.b/c=1", { "a.b/c": "1" }, true],
  ])("%s on %j is %s", (selector, labels, expected) => {
    expect(parseLabelSelector(selector)?.(labels)).toBe(expected);
  });

  test.each(["", "  "])("%j selects everything", (selector) => {
    expect(parseLabelSelector(selector)).toBeUndefined();
  });

  test.each([
    ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ["a in (b", "unable to parse requirement: found '', expected: ',' or ')'"],
    ["a in b", "unable to parse requirement: found 'b' expected: '('"],
    ["a=b c", "found 'c', expected: ',' or 'end of string'"],
    ["a,", "found '', expected: identifier after ','"],
    ["=a", "found '=', expected: !, identifier, or 'end of string'"],
    [
      "a>x",
      "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
  ])("refuses %j", (selector, message) => {
    expect(() => parseLabelSelector(selector)).toThrow(expect.objectContaining({ code: 400, message }));
  });
});
