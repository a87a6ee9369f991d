import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  DELETION_WINDOW_MS,
  type Deletion,
  deletionLimit,
  openMessage,
  isOpen,
  merged,
  recent,
  total,
} from "./circuit-breaker.ts";

describe("deletionLimit()", () => {
  test.each([
    { nodes: 0, maxPercent: 10, want: 3 },
    { nodes: 39, maxPercent: 10, want: 3 },
    { nodes: 40, maxPercent: 10, want: 4 },
    { nodes: 49, maxPercent: 10, want: 4 },
    { nodes: 200, maxPercent: 10, want: 20 },
    { nodes: 200, maxPercent: 0, want: 3 },
    { nodes: 200, maxPercent: 100, want: 200 },
  ])("lets $want of $nodes go at $maxPercent %", ({ nodes, maxPercent, want }) => {
    expect(deletionLimit({ nodes, maxPercent })).toBe(want);
  });
});

describe("isOpen()", () => {
  test.each([
    { gone: 20, want: false },
    { gone: 21, want: true },
  ])("is $want for $gone of 200", ({ gone, want }) => {
    expect(isOpen({ gone, nodes: 200, isUnknown: false, maxPercent: 10, exempt: false })).toBe(want);
  });

  test.each([
    { it: "blocks the first", gone: 1, nodes: 200, maxPercent: 10, want: true },
    { it: "blocks nothing where nothing is absent", gone: 0, nodes: 200, maxPercent: 10, want: false },
    { it: "blocks nothing where the circuit breaker is disabled", gone: 1, nodes: 200, maxPercent: 100, want: false },
    { it: "blocks nothing where all may go anyway", gone: 1, nodes: 3, maxPercent: 10, want: false },
  ])("$it while it is unknown what went before", ({ gone, nodes, maxPercent, want }) => {
    expect(isOpen({ gone, nodes, isUnknown: true, maxPercent, exempt: false })).toBe(want);
  });
});

describe("openMessage()", () => {
  test.each([
    [{ gone: 21, isUnknown: false }, "21 of 200 Nodes as absent, and at most 20 are deleted within 10 minutes"],
    [{ gone: 21, isUnknown: true }, "21 of 200 Nodes as absent, and at most 20 are deleted within 10 minutes"],
    [
      { gone: 1, isUnknown: true },
      "1 of 200 Nodes as absent, and it is unknown how many were deleted within the last 10 minutes, because the annotation of the Lease could not be read",
    ],
  ])("of %o names the reason", (parts, want) => {
    const circuitBreaker = { nodes: 200, maxPercent: 10, exempt: false, ...parts };
    expect(openMessage("acme", circuitBreaker)).toBe(`provider acme reports the instances of ${want}`);
  });
});

describe("deletion window", () => {
  const at = (atMs: number, count = 1): Deletion => ({ atMs, count });

  describe("recent()", () => {
    const now = 2 * DELETION_WINDOW_MS;

    test("keeps what happened less than ten minutes ago", () => {
      const deletions = [at(now - DELETION_WINDOW_MS), at(now - DELETION_WINDOW_MS + 1), at(now)];
      expect(recent({ deletions, unknownAtMs: undefined }, now).deletions).toEqual(deletions.slice(1));
    });

    test.each([
      [now - DELETION_WINDOW_MS, undefined],
      [now - DELETION_WINDOW_MS + 1, now - DELETION_WINDOW_MS + 1],
      [undefined, undefined],
    ])("of what is unknown since %s keeps %s", (unknownAtMs, want) => {
      expect(recent({ deletions: [], unknownAtMs }, now).unknownAtMs).toBe(want);
    });
  });

  describe("merged()", () => {
    test.each([
      { it: "of nothing is nothing", left: [], right: [], want: [] },
      { it: "is the one where the other is empty", left: [at(1, 2)], right: [], want: [at(1, 2)] },
      { it: "counts once what both have", left: [at(5, 2), at(1)], right: [at(1), at(5, 2)], want: [at(5, 2), at(1)] },
      { it: "has what only the one has", left: [at(5)], right: [at(5), at(9)], want: [at(9), at(5)] },
      { it: "has the greater number of one moment", left: [at(5, 2)], right: [at(5, 7)], want: [at(5, 7)] },
      { it: "believes the later time of the same one", left: [at(5)], right: [at(3)], want: [at(5)] },
      { it: "has more of before if the other says so", left: [at(5)], right: [at(3, 4)], want: [at(5), at(3, 3)] },
    ])("$it", ({ left, right, want }) => {
      expect(merged(left, right)).toEqual(want);
    });

    const deletions = fc.array(fc.record({ atMs: fc.nat(20), count: fc.integer({ min: 1, max: 5 }) }), {
      maxLength: 8,
    });
    const since = (some: readonly Deletion[], ms: number) => total(some.filter(({ atMs }) => atMs >= ms));

    test("has since each moment as many as the greater record, in either order", () => {
      fc.assert(
        fc.property(deletions, deletions, (left, right) => {
          const both = merged(left, right);
          const moments = Array.from({ length: 22 }, (_, ms) => ms);
          expect(moments.map((ms) => since(both, ms))).toEqual(
            moments.map((ms) => Math.max(since(left, ms), since(right, ms))),
          );
          expect(merged(right, left)).toEqual(both);
          expect(merged(both, left)).toEqual(both);
        }),
      );
    });
  });
});
