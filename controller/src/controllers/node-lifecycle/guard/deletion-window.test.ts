import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BRAKE_WINDOW_MS } from "./circuit-breaker.ts";
import { type Deletion, merged, recent, total } from "./deletion-window.ts";

const at = (atMs: number, count = 1): Deletion => ({ atMs, count });

describe("recent()", () => {
  const now = 2 * BRAKE_WINDOW_MS;

  test("keeps what happened less than ten minutes ago", () => {
    const deletions = [at(now - BRAKE_WINDOW_MS), at(now - BRAKE_WINDOW_MS + 1), at(now)];
    expect(recent({ deletions, unknownAtMs: undefined }, now).deletions).toEqual(deletions.slice(1));
  });

  test.each([
    [now - BRAKE_WINDOW_MS, undefined],
    [now - BRAKE_WINDOW_MS + 1, now - BRAKE_WINDOW_MS + 1],
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

  const deletions = fc.array(fc.record({ atMs: fc.nat(20), count: fc.integer({ min: 1, max: 5 }) }), { maxLength: 8 });
  const since = (some: readonly Deletion[], ms: number) => total(some.filter(({ atMs }) => atMs >= ms));

  test("has since each moment as many as the greater account, no more and no fewer, whichever comes first", () => {
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
