import { expect, test } from "vitest";
import { CheckPace } from "./check-pace.ts";

const checks = (periodMs: number, nowMs = (): number => 0): CheckPace =>
  new CheckPace({ clock: { monotonicMs: nowMs }, random: () => 0.5, pace: { periodMs } });

test("CheckPace allows four checks per second, and spreads the rest over the period", () => {
  const pace = checks(1000);
  expect(Array.from({ length: 6 }, () => pace.delayMs())).toEqual([250, 500, 750, 1000, 500, 500]);
});

test("CheckPace allows a check soon after a pause", () => {
  let nowMs = 0;
  const pace = checks(60_000, () => nowMs);
  expect([pace.delayMs(), pace.delayMs()]).toEqual([250, 500]);
  nowMs = 10_000;
  expect(pace.delayMs()).toBe(250);
});

test("CheckPace spreads checks over ten minutes while sweeps are off", () => {
  const pace = checks(0);
  const delays = Array.from({ length: 3000 }, () => pace.delayMs());
  expect([Math.max(...delays), delays.at(-1)]).toEqual([600_000, 300_000]);
});
