import { describe, expect, test } from "vitest";
import { withoutSecrets } from "./secrets.ts";

const RULES = {
  Outer: [
    { name: "name", jsonName: "name", kind: "scalar" },
    { name: "pass_word", jsonName: "passWord", kind: "scalar", sensitive: true },
    { name: "inner", jsonName: "inner", kind: "message", message: "Inner" },
    { name: "inners", jsonName: "inners", kind: "list", message: "Inner" },
    { name: "by_name", jsonName: "byName", kind: "map", message: "Inner" },
  ],
  Inner: [{ name: "token", jsonName: "token", kind: "scalar", sensitive: true }],
} as const;

describe("withoutSecrets()", () => {
  test("hides what is marked, however deep it is", () => {
    const json = {
      name: "n",
      passWord: "hunter2",
      inner: { token: "t1", other: 1 },
      inners: [{ token: "t2" }, { token: "t3" }],
      byName: { a: { token: "t4" } },
      unknown: { token: "kept: no rule says what it is" },
    };
    expect(withoutSecrets("Outer", json, RULES)).toEqual({
      name: "n",
      passWord: "***",
      inner: { token: "***", other: 1 },
      inners: [{ token: "***" }, { token: "***" }],
      byName: { a: { token: "***" } },
      unknown: { token: "kept: no rule says what it is" },
    });
  });

  test.each([[undefined], [null], ["text"], [1]])("leaves %j as it is", (json) => {
    expect(withoutSecrets("Outer", json, RULES)).toEqual(json);
  });
});
