import { expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { RefreshSchedule } from "./node-cache.ts";

test("isDue() holds until the node was read, in each tick, the start included", async () => {
  const clock = new FakeClock();
  const schedule = new RefreshSchedule({ refreshPeriodMs: 1000 }, clock);
  expect([schedule.isDue("a"), schedule.isDue("a")]).toEqual([true, true]);
  schedule.done("a");
  expect([schedule.isDue("a"), schedule.isDue("b")]).toEqual([false, true]);
  await clock.advance(999);
  expect(schedule.isDue("a")).toBe(false);
  await clock.advance(1);
  expect(schedule.isDue("a")).toBe(true);
});

test("isDue() holds again for a node that was forgotten", () => {
  const schedule = new RefreshSchedule({ refreshPeriodMs: 1000 }, new FakeClock());
  schedule.done("a");
  schedule.forget("a");
  expect(schedule.isDue("a")).toBe(true);
});

test("untilNextMs() names the same moment to everybody", async () => {
  const clock = new FakeClock();
  const schedule = new RefreshSchedule({ refreshPeriodMs: 1000 }, clock);
  expect(schedule.untilNextMs()).toBe(1000);
  await clock.advance(300);
  expect(schedule.untilNextMs()).toBe(700);
  await clock.advance(700);
  expect(schedule.untilNextMs()).toBe(1000);
});

test.each([
  { periodMs: 10_000, maxDataAgeMs: 5000 },
  { periodMs: 300_000, maxDataAgeMs: 30_000 },
])("maxDataAgeMs is $maxDataAgeMs for a period of $periodMs", ({ periodMs, maxDataAgeMs }) => {
  expect(new RefreshSchedule({ refreshPeriodMs: periodMs }, new FakeClock()).maxDataAgeMs).toBe(maxDataAgeMs);
});

test("a period that changes makes every node due and holds from then on", async () => {
  const clock = new FakeClock();
  const settings = { refreshPeriodMs: 1000 };
  const schedule = new RefreshSchedule(settings, clock);
  await clock.advance(5000);
  schedule.done("a");
  settings.refreshPeriodMs = 2000;
  expect([schedule.isDue("a"), schedule.untilNextMs(), schedule.maxDataAgeMs]).toEqual([true, 1000, 1000]);
});
