import { expect, test } from "vitest";
import { untilNextLookMs } from "./pace.ts";

test.each([
  { it: "a period after the first look", looks: 1, period: 5000, max: 30_000, at: 10_000, want: 5000 },
  { it: "twice that after the second", looks: 2, period: 5000, max: 30_000, at: 10_000, want: 10_000 },
  { it: "four times after the third", looks: 3, period: 5000, max: 30_000, at: 10_000, want: 20_000 },
  { it: "never later than the bound", looks: 4, period: 5000, max: 30_000, at: 10_000, want: 30_000 },
  { it: "never later after very many", looks: 100_000, period: 5000, max: 30_000, at: 10_000, want: 30_000 },
  { it: "at the tick that a late timer missed", looks: 1, period: 5000, max: 30_000, at: 10_003, want: 4997 },
  { it: "at the nearest tick after a change in between", looks: 1, period: 5000, max: 30_000, at: 12_400, want: 2600 },
  { it: "never sooner than half a period", looks: 1, period: 5000, max: 30_000, at: 12_499, want: 2501 },
  { it: "a period later when the bound is shorter than that", looks: 9, period: 5000, max: 1000, at: 0, want: 5000 },
])("untilNextLookMs() is $it", ({ looks, period, max, at, want }) => {
  expect(untilNextLookMs(looks, { periodMs: period, maxMs: max }, at)).toBe(want);
});
