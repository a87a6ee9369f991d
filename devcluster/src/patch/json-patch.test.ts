import { describe, expect, test } from "vitest";
import type { Json } from "../json.ts";
import { applyJsonPatch } from "./json-patch.ts";

const document = { labels: { a: "1", "b/c~d": "2" }, list: ["x", "y"] };

describe("applyJsonPatch()", () => {
  test.each<[string, Json, Json]>([
    [
      "adds a key",
      [{ op: "add", path: "/labels/e", value: "5" }],
      { labels: { a: "1", "b/c~d": "2", e: "5" }, list: ["x", "y"] },
    ],
    ["reads ~1 and ~0", [{ op: "remove", path: "/labels/b~1c~0d" }], { labels: { a: "1" }, list: ["x", "y"] }],
    ["inserts into a list", [{ op: "add", path: "/list/1", value: "z" }], { ...document, list: ["x", "z", "y"] }],
    ["appends", [{ op: "add", path: "/list/-", value: "z" }], { ...document, list: ["x", "y", "z"] }],
    ["counts a negative index from the end", [{ op: "remove", path: "/list/-1" }], { ...document, list: ["x"] }],
    ["replaces an element", [{ op: "replace", path: "/list/0", value: 1 }], { ...document, list: [1, "y"] }],
    ["moves", [{ op: "move", from: "/list/0", path: "/labels/a" }], { labels: { a: "x", "b/c~d": "2" }, list: ["y"] }],
    ["copies", [{ op: "copy", from: "/labels", path: "/list/0" }], { ...document, list: [document.labels, "x", "y"] }],
    [
      "goes on after a test that holds",
      [
        { op: "test", path: "/list", value: ["x", "y"] },
        { op: "remove", path: "/list" },
      ],
      { labels: document.labels },
    ],
    ["takes null for what is missing in a test", [{ op: "test", path: "/nothing", value: null }], document],
    ["replaces the whole document", [{ op: "replace", path: "", value: { new: true } }], { new: true }],
  ])("%s", (_, patch, expected) => {
    expect(applyJsonPatch(document, patch)).toEqual(expected);
  });

  test.each<[string, Json]>([
    ["removes nothing", [{ op: "remove", path: "/labels/zz" }]],
    ["leaves a list", [{ op: "add", path: "/list/9", value: 1 }]],
    ["steps into a scalar", [{ op: "add", path: "/labels/a/b", value: 1 }]],
    ["tests wrongly", [{ op: "test", path: "/labels/a", value: "2" }]],
    ["has no operation", [{ op: "frobnicate", path: "/labels" }]],
    ["has no pointer", [{ op: "remove", path: "labels" }]],
    ["has no path", [{ op: "remove" }]],
    ["has a scalar for an operation", [5]],
  ])("answers 422 to a patch that %s", (_, patch) => {
    expect(() => applyJsonPatch(document, patch)).toThrow(expect.objectContaining({ code: 422, reason: "Invalid" }));
  });

  test("answers 400 to a patch that is no list", () => {
    expect(() => applyJsonPatch(document, {})).toThrow(expect.objectContaining({ code: 400 }));
  });

  test("changes nothing of the document it is given", () => {
    const before = structuredClone(document);
    applyJsonPatch(document, [
      { op: "remove", path: "/labels/a" },
      { op: "add", path: "/list/-", value: 1 },
    ]);
    expect(document).toEqual(before);
  });
});
