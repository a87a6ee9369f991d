import { describe, expect, test } from "vitest";
import { brakeLimit, brakeMessage, isBraked } from "./circuit-breaker.ts";

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
    expect(isBraked({ gone, nodes: 200, isUnknown: false, maxPercent: 10, exempt: false })).toBe(want);
  });

  test.each([
    { it: "holds the first", gone: 1, nodes: 200, maxPercent: 10, want: true },
    { it: "holds nothing where nothing is absent", gone: 0, nodes: 200, maxPercent: 10, want: false },
    { it: "holds nothing where the brake is off", gone: 1, nodes: 200, maxPercent: 100, want: false },
    { it: "holds nothing where all may go anyway", gone: 1, nodes: 3, maxPercent: 10, want: false },
  ])("$it while it is unknown what went before", ({ gone, nodes, maxPercent, want }) => {
    expect(isBraked({ gone, nodes, isUnknown: true, maxPercent, exempt: false })).toBe(want);
  });
});

describe("brakeMessage()", () => {
  test.each([
    [{ gone: 21, isUnknown: false }, "21 of 200 Nodes absent, and at most 20 go within 10 minutes"],
    [{ gone: 21, isUnknown: true }, "21 of 200 Nodes absent, and at most 20 go within 10 minutes"],
    [
      { gone: 1, isUnknown: true },
      "1 of 200 Nodes absent, and it is not known how many went within the last 10 minutes, for the note on the Lease could not be read",
    ],
  ])("of %o names what holds", (parts, want) => {
    const brake = { nodes: 200, maxPercent: 10, exempt: false, ...parts };
    expect(brakeMessage("acme", brake)).toBe(`provider acme calls the machines of ${want}`);
  });
});
