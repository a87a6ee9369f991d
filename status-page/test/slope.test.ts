import { expect, test } from "vitest";
import { slopeOf } from "./slope.ts";

test.each([
  { values: [], slope: 0 },
  { values: [7], slope: 0 },
  { values: [5, 5, 5], slope: 0 },
  { values: [1, 3, 5, 7], slope: 2 },
  { values: [4, 0, 4, 0, 4], slope: 0 },
])("slopeOf() of $values is $slope", ({ values, slope }) => {
  expect(slopeOf(values)).toBe(slope);
});
