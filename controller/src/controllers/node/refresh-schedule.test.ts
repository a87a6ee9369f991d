import { expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { RefreshSchedule } from "./refresh-schedule.ts";

test("take() is true once a tick and node, the start included", async () => {
  const clock = new FakeClock();
  const schedule = new RefreshSchedule(1000, clock);
  expect([schedule.take("a"), schedule.take("a"), schedule.take("b")]).toEqual([true, false, true]);
  await clock.advance(999);
  expect([schedule.take("a"), schedule.take("c")]).toEqual([false, true]);
  await clock.advance(1);
  expect([schedule.take("a"), schedule.take("a"), schedule.take("c")]).toEqual([true, false, true]);
});

test("take() is true again for a node that was forgotten", () => {
  const schedule = new RefreshSchedule(1000, new FakeClock());
  schedule.take("a");
  schedule.forget("a");
  expect(schedule.take("a")).toBe(true);
});

test("untilNextMs() names the same moment to everybody", async () => {
  const clock = new FakeClock();
  const schedule = new RefreshSchedule(1000, clock);
  expect(schedule.untilNextMs()).toBe(1000);
  await clock.advance(300);
  expect(schedule.untilNextMs()).toBe(700);
  await clock.advance(700);
  expect(schedule.untilNextMs()).toBe(1000);
});
