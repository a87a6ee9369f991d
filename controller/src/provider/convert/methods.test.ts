import { describe, expect, test } from "vitest";
import { brokenRules } from "./methods.ts";

const RULES = {
  Outer: [
    { name: "name", jsonName: "name", kind: "scalar", maxBytes: 4 },
    { name: "names", jsonName: "names", kind: "list", maxItems: 2, maxBytes: 4 },
    { name: "labels", jsonName: "labels", kind: "map", maxTotalBytes: 6, maxItems: 2 },
    { name: "pass_word", jsonName: "passWord", kind: "scalar", sensitive: true },
    { name: "inner", jsonName: "inner", kind: "message", message: "Inner" },
    { name: "inners", jsonName: "inners", kind: "list", message: "Inner" },
    { name: "size", jsonName: "size", kind: "scalar", min: 1, max: 9 },
    { name: "strict", jsonName: "strict", kind: "message", message: "Strict" },
    { name: "stricts", jsonName: "stricts", kind: "list", message: "Strict" },
    { name: "left", jsonName: "left", oneof: "source", kind: "message", message: "Strict" },
    { name: "right", jsonName: "right", oneof: "source", kind: "message", message: "Inner" },
    { name: "by_name", jsonName: "byName", kind: "map", message: "Inner" },
  ],
  Inner: [{ name: "token", jsonName: "token", kind: "scalar", sensitive: true }],
  Strict: [{ name: "id", jsonName: "id", kind: "scalar", required: true }],
} as const;

const TOO_LARGE = "FIELD_TOO_LARGE";

describe("brokenRules()", () => {
  test.each([
    ["a message within limits", { name: "four", names: ["a", "b"], labels: { a: "1", b: "2" } }, []],
    ["a text counted in bytes", { name: "éé€" }, [[TOO_LARGE, "name", "7 bytes, 4 allowed"]]],
    ["a list with too many items", { names: ["a", "b", "c"] }, [[TOO_LARGE, "names", "3 items, 2 allowed"]]],
    ["a list with a long item", { names: ["a", "bcdef"] }, [[TOO_LARGE, "names[1]", "5 bytes, 4 allowed"]]],
    ["a map with too much in it", { labels: { abc: "defg" } }, [[TOO_LARGE, "labels", "7 bytes, 6 allowed"]]],
    [
      "a map with too many entries",
      { labels: { a: "", b: "", c: "" } },
      [[TOO_LARGE, "labels", "3 entries, 2 allowed"]],
    ],
    ["a number below its range", { size: 0.5 }, [["FIELD_INVALID", "size", "0.5, 1 to 9 allowed"]]],
    ["a number above its range", { size: 10 }, [["FIELD_INVALID", "size", "10, 1 to 9 allowed"]]],
    ["a message in a field", { strict: {} }, [["FIELD_MISSING", "strict.id", "missing"]]],
    ["messages in a list", { stricts: [{ id: "a" }, { id: "" }] }, [["FIELD_MISSING", "stricts[1].id", "missing"]]],
    [
      "the member chosen of a oneof",
      { source: { $case: "left", value: { id: "" } } },
      [["FIELD_MISSING", "left.id", "missing"]],
    ],
    ["a oneof of which the other member is chosen", { source: { $case: "right", value: {} } }, []],
    [
      "several faults",
      { name: "fives", names: ["a", "b", "c"] },
      [
        [TOO_LARGE, "name", "5 bytes, 4 allowed"],
        [TOO_LARGE, "names", "3 items, 2 allowed"],
      ],
    ],
  ])("evaluates %s", (_, message, expected) => {
    const broken = brokenRules("Outer", message, RULES);
    expect(broken.map(({ reason, field, description }) => [reason, field, description])).toEqual(expected);
  });

  test("knows the contract's rules", () => {
    const addresses = [{ type: 1, address: "" }];
    expect(brokenRules("cloudprovider.v1.NodeRef", { name: "n", providerId: "x".repeat(1025), addresses })).toEqual([
      { reason: TOO_LARGE, field: "provider_id", description: "1025 bytes, 1024 allowed" },
      { reason: "FIELD_MISSING", field: "addresses[0].address", description: "missing" },
    ]);
  });
});
