import { describe, expect, test } from "vitest";
import { brakeLimit, isBraked } from "./brake.ts";

describe("brakeLimit()", () => {
  test.each([
    { nodes: 0, maxPercent: 10, want: 3 },
    { nodes: 39, maxPercent: 10, want: 3 },
    { nodes: 40, maxPercent: 10, want: 4 },
    { nodes: 49, maxPercent: 10, want: 4 },
    { nodes: 200, maxPercent: 10, want: 20 },
    { nodes: 200, maxPercent: 0, want: 3 },
    { nodes: 200, maxPercent: 100, want: 200 },
  ])("lets $want of $nodes go at $maxPercent %", ({ nodes, maxPercent, want }) => {
    expect(brakeLimit({ nodes, maxPercent })).toBe(want);
  });
});

describe("isBraked()", () => {
  test.each([
    { gone: 20, want: false },
    { gone: 21, want: true },
  ])("is $want for $gone of 200", ({ gone, want }) => {
    expect(isBraked({ gone, nodes: 200, maxPercent: 10, exempt: false })).toBe(want);
  });
});
