import { expect, test } from "vitest";
import { manualClock } from "../../test/manual-clock.ts";
import { RateLimiter } from "./rate-limiter.ts";

test("RateLimiter.take() allows the burst, then returns the wait time, per account", () => {
  const clock = manualClock();
  const limiter = new RateLimiter(clock.now);
  const limit = { perSecond: 2, burst: 3 };
  expect([1, 2, 3, 4].map(() => limiter.take("a", limit))).toEqual([0, 0, 0, 500]);
  expect(limiter.take("b", limit)).toBe(0);
  clock.advance(500);
  expect([1, 2].map(() => limiter.take("a", limit))).toEqual([0, 500]);
  clock.advance(60_000);
  expect([1, 2, 3, 4].map(() => limiter.take("a", limit))).toEqual([0, 0, 0, 500]);
});

test("RateLimiter.take() knows no limit when the rate is 0", () => {
  const limiter = new RateLimiter(() => 0);
  expect(Array.from({ length: 50 }, () => limiter.take("a", { perSecond: 0, burst: 1 }))).toEqual(Array(50).fill(0));
});
