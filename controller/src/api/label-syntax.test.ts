import { describe, expect, test } from "vitest";
import { isLabelKey, isLabelValue } from "./label-syntax.ts";

describe("isLabelKey()", () => {
  test.each(["a", "Zone_1.x", "topology.kubernetes.io/zone", `a.b/${"x".repeat(63)}`, `${"p".repeat(253)}/x`])(
    "takes %s",
    (key) => {
      expect(isLabelKey(key)).toBe(true);
    },
  );

  test.each([
    "",
    "/a",
    "a/",
    "a/b/c",
    "-a",
    "a-",
    "a b",
    "Up.er/x",
    `a/${"x".repeat(64)}`,
    `${"p".repeat(254)}/x`,
    "ü",
  ])("refuses %j", (key) => {
    expect(isLabelKey(key)).toBe(false);
  });
});

describe("isLabelValue()", () => {
  test.each(["", "a", "north-a__north-b", "x".repeat(63)])("takes %j", (value) => {
    expect(isLabelValue(value)).toBe(true);
  });

  test.each(["a/b", "_a", "a_", "x".repeat(64), "a b"])("refuses %j", (value) => {
    expect(isLabelValue(value)).toBe(false);
  });
});
