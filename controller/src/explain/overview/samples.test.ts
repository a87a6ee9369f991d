import { describe, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { Samples, sampleOf, type Totals } from "./samples.ts";

const totals = (calls: number, failed: number, reconciles: number): Totals => ({
  calls: { sim: calls },
  failedCalls: { sim: failed },
  reconciles: { "cloud-node-controller": reconciles },
});

describe("sampleOf()", () => {
  test("is what happened in between, by the second", () => {
    expect(sampleOf(totals(100, 2, 10), totals(110, 3, 10), 5000, Date.UTC(2026, 0, 1))).toEqual({
      time: "2026-01-01T00:00:00.000Z",
      callsPerSecond: { sim: 2 },
      failedCallsPerSecond: { sim: 0.2 },
      reconcilesPerSecond: { "cloud-node-controller": 0 },
    });
  });

  test("takes one that was not counted before for one that begins at 0", () => {
    const none: Totals = { calls: {}, failedCalls: {}, reconciles: {} };
    expect(sampleOf(none, totals(1, 0, 0), 3000, 0).callsPerSecond).toEqual({ sim: 0.33 });
  });
});

describe("Samples", () => {
  test("are made while there are readers, kept for ten minutes, and dropped with the last reader", async () => {
    const clock = new FakeClock();
    let calls = 0;
    const samples = new Samples({ totals: async () => totals((calls += 10), 0, 0), clock, log: new FakeLog() });
    let woken = 0;
    const close = samples.open(() => woken++);
    await clock.advance(15_000);
    expect({ woken, first: samples.at(0)?.sample.callsPerSecond, next: samples.at(3) }).toEqual({
      woken: 3,
      first: { sim: 2 },
      next: undefined,
    });
    await clock.advance(700_000);
    expect({ first: samples.first, oldest: samples.at(0)?.number }).toEqual({ first: 23, oldest: 23 });
    close();
    expect({ timers: clock.timers, oldest: samples.at(0) }).toEqual({ timers: 0, oldest: undefined });
  });
});
