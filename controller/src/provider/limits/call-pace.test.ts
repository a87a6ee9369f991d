import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { CallPace } from "./call-pace.ts";
import type { Rate } from "../model/call-rate.ts";

const RATE: Rate = { cloudCallsPerSecond: 10, burst: 5 };

let clock: FakeClock;
beforeEach(() => {
  clock = new FakeClock();
});

/** Spends whatever there is for a time, and answers how many calls went in each second. */
async function callsBySecond(pace: CallPace, seconds: number): Promise<readonly number[]> {
  const counts: number[] = [];
  for (let second = 0; second < seconds; second++) {
    let count = 0;
    for (let step = 0; step < 100; step++) {
      for (; pace.waitMs() === 0 && count < 5000; count++) pace.spend(1);
      await clock.advance(10);
    }
    counts.push(count);
  }
  return counts;
}

describe("CallPace", () => {
  test("lets the burst go at once and the rate after that", async () => {
    expect(await callsBySecond(new CallPace(RATE, clock), 3)).toEqual([14, 10, 10]);
  });

  test("says how long the last of several waits", () => {
    const pace = new CallPace(RATE, clock);
    expect([pace.waitMs(4), pace.waitMs(5), pace.waitMs(14)]).toEqual([0, 100, 1000]);
  });

  test("counts what an answer cost beyond one request, and gives back what was not sent", async () => {
    const pace = new CallPace(RATE, clock);
    for (let call = 0; call < 5; call++) pace.spend(1);
    pace.spend(3);
    expect([pace.tokens, pace.waitMs()]).toEqual([-3, 400]);
    pace.spend(-1);
    expect([pace.tokens, pace.waitMs()]).toEqual([-2, 300]);
    await clock.advance(60_000);
    expect(pace.tokens).toBe(5);
  });

  test("starts with one call after a hold, and gets back to the rate from half of it", async () => {
    const pace = new CallPace(RATE, clock);
    pace.hold(2000);
    expect([pace.heldMs, pace.perSecond, pace.burst, pace.waitMs()]).toEqual([2000, 5, 1, 2000]);
    await clock.advance(2000);
    expect(pace.heldMs).toBe(0);
    const counts = await callsBySecond(pace, 8);
    expect(counts[0]).toBeLessThanOrEqual(6);
    expect(counts.slice(0, 5)).toEqual(counts.slice(0, 5).toSorted((a, b) => a - b));
    expect(counts.at(-1)).toBe(10);
    expect(pace.burst).toBe(5);
  });

  test("starts from one a second where no rate is known, and ends with no limit", async () => {
    const pace = new CallPace(undefined, clock);
    expect(await callsBySecond(pace, 1)).toEqual([5000]);
    pace.hold(100);
    await clock.advance(100);
    const counts = await callsBySecond(pace, 15);
    expect(counts[0]).toBe(2);
    const later = counts.slice(1);
    expect(later).toEqual(later.toSorted((a, b) => a - b));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThan(80);
    await clock.advance(60_000);
    expect([pace.waitMs(1000), pace.perSecond]).toEqual([0, Number.POSITIVE_INFINITY]);
  });

  test("takes no debt from calls under way where no rate is known", async () => {
    const pace = new CallPace(undefined, clock);
    pace.hold(1000);
    pace.spend(350);
    expect([pace.tokens, pace.heldMs]).toEqual([0, 1000]);
    expect(pace.waitMs()).toBeCloseTo(1000 + 935, -1);
  });

  test.each([
    ["no rate", undefined],
    ["a rate", RATE],
  ])("foresees when the last of many goes while the speed doubles, with %s", async (_name, rate) => {
    const pace = new CallPace(rate, clock);
    pace.hold(1000);
    const foreseenMs = [0, 1, 10, 60].map((ahead) => clock.monotonicMs() + pace.waitMs(ahead));
    const wentMs: number[] = [];
    for (let call = 0; call <= 60; call++) {
      await clock.advance(Math.ceil(pace.waitMs()));
      pace.spend(1);
      wentMs.push(clock.monotonicMs());
    }
    // Timers fire at whole milliseconds: up to one is lost at each call.
    const late = [0, 1, 10, 60].map(
      (ahead, index) => (wentMs[ahead] ?? Number.NaN) - (foreseenMs[index] ?? Number.NaN),
    );
    expect(late.map((ms, index) => ms >= 0 && ms <= ([0, 1, 10, 60][index] ?? 0) + 1)).toEqual([
      true,
      true,
      true,
      true,
    ]);
  });

  test("pays ten minutes of debt at the most, whatever an answer says that it cost", () => {
    const pace = new CallPace(RATE, clock);
    pace.spend(4_294_967_295);
    expect(pace.waitMs()).toBe(600_100);
  });

  test("pays ten minutes of debt at the most after the rate was lowered, too", () => {
    const pace = new CallPace({ cloudCallsPerSecond: 100, burst: 100 }, clock);
    pace.spend(4_294_967_295);
    pace.setRate({ cloudCallsPerSecond: 0.1, burst: 1 });
    expect(pace.waitMs()).toBe(610_000);
  });

  test("restarts at one per second after the limit was removed, with or without reads in between", async () => {
    const pace = new CallPace(undefined, clock);
    pace.hold(1000);
    await clock.advance(120_000);
    pace.hold(1000);
    expect(pace.perSecond).toBe(1);
  });

  test("takes several words of one occasion as one, and each later occasion as one more", async () => {
    const pace = new CallPace(RATE, clock);
    pace.hold(1000);
    await clock.advance(500);
    pace.hold(200);
    pace.hold(3000);
    expect([pace.heldMs, pace.perSecond]).toEqual([3000, 5]);
    await clock.advance(3000);
    pace.hold(1000);
    expect(pace.perSecond).toBe(2.5);
  });

  test("believes no hold beyond ten minutes, and never gets slower than a call in ten seconds", async () => {
    const pace = new CallPace(RATE, clock);
    pace.hold(86_400_000);
    expect(pace.heldMs).toBe(600_000);
    await clock.advance(600_000);
    for (let occasion = 0; occasion < 20; occasion++) {
      pace.hold(100);
      await clock.advance(100);
    }
    expect(pace.perSecond).toBeCloseTo(0.1, 1);
  });

  test("takes another rate without forgetting what was spent", async () => {
    const pace = new CallPace(RATE, clock);
    for (let call = 0; call < 5; call++) pace.spend(1);
    pace.setRate({ cloudCallsPerSecond: 2, burst: 50 });
    expect([pace.tokens, pace.waitMs()]).toEqual([0, 500]);
    pace.setRate(undefined);
    expect(pace.waitMs(100)).toBe(0);
    pace.setRate(RATE);
    expect(pace.tokens).toBe(5);
  });
});
