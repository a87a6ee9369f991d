import { describe, expect, test } from "vitest";
import { overLimit, withoutSecrets } from "./field-rules.ts";

const RULES = {
  Outer: [
    { name: "name", jsonName: "name", kind: "scalar", maxBytes: 4 },
    { name: "names", jsonName: "names", kind: "list", maxItems: 2, maxBytes: 4 },
    { name: "labels", jsonName: "labels", kind: "map", maxTotalBytes: 6, maxItems: 2 },
    { name: "pass_word", jsonName: "passWord", kind: "scalar", sensitive: true },
    { name: "inner", jsonName: "inner", kind: "message", message: "Inner" },
    { name: "inners", jsonName: "inners", kind: "list", message: "Inner" },
    { name: "by_name", jsonName: "byName", kind: "map", message: "Inner" },
  ],
  Inner: [{ name: "token", jsonName: "token", kind: "scalar", sensitive: true }],
} as const;

describe("overLimit()", () => {
  test.each([
    ["a message within limits", { name: "four", names: ["a", "b"], labels: { a: "1", b: "2" } }, []],
    ["a text counted in bytes", { name: "éé€" }, ["name: 7 bytes, 4 allowed"]],
    ["a list with too many items", { names: ["a", "b", "c"] }, ["names: 3 items, 2 allowed"]],
    ["a list with a long item", { names: ["a", "bcdef"] }, ["names: 5 bytes, 4 allowed"]],
    ["a map with too much in it", { labels: { abc: "defg" } }, ["labels: 7 bytes, 6 allowed"]],
    ["a map with too many entries", { labels: { a: "", b: "", c: "" } }, ["labels: 3 entries, 2 allowed"]],
    [
      "several faults",
      { name: "fives", names: ["a", "b", "c"] },
      ["name: 5 bytes, 4 allowed", "names: 3 items, 2 allowed"],
    ],
  ])("judges %s", (_, message, expected) => {
    expect(overLimit("Outer", message, RULES)).toEqual(expected);
  });

  test("knows the contract's rules", () => {
    expect(overLimit("cloudprovider.v1.NodeRef", { name: "n", providerId: "x".repeat(1025) })).toEqual([
      "provider_id: 1025 bytes, 1024 allowed",
    ]);
  });
});

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
