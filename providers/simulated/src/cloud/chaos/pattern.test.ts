import { expect, test } from "vitest";
import { bestFit, fits } from "./pattern.ts";

test.each([
  ["instances.list", "instances.list", true],
  ["instances.list", "instances.lookup", false],
  ["instances.*", "instances.lookup", true],
  ["instances.*", "volumes.lookup", false],
  ["*", "anything.atAll", true],
])("fits(%s, %s) is %s", (pattern, operation, expected) => {
  expect(fits(pattern, operation)).toBe(expected);
});

test("bestFit() takes the longest pattern that fits", () => {
  const patterns = { "*": 1, "instances.*": 2, "instances.list": 3, "routes.*": 4 };
  expect(["instances.list", "instances.get", "volumes.get"].map((operation) => bestFit(patterns, operation))).toEqual([
    3, 2, 1,
  ]);
  expect(bestFit({ "routes.*": 4 }, "volumes.get")).toBeUndefined();
});
