import { expect, test } from "vitest";
import { changedPaths } from "./generated.ts";

test("changedPaths() names files added, removed and changed, in order", () => {
  const before = new Map([
    ["same", "1"],
    ["gone", "1"],
    ["changed", "1"],
  ]);
  const after = new Map([
    ["same", "1"],
    ["changed", "2"],
    ["added", "1"],
  ]);
  expect(changedPaths(before, after)).toEqual(["added", "changed", "gone"]);
});
