import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { Delays } from "./delays.ts";

describe("Delays", () => {
  test("gives each key at its own time, the newest one set, and cancelled ones never", async () => {
    const entry = fc.record({ key: fc.nat(40), delayMs: fc.integer({ min: 1, max: 500 }), cancel: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 120, size: "max" }), async (entries) => {
        const clock = new FakeClock();
        const fired = new Map<string, number>();
        const delays = new Delays(clock, (key) => fired.set(key, clock.monotonicMs()));
        const wanted = new Map<string, number>();
        for (const { key, delayMs, cancel } of entries) {
          delays.set(String(key), delayMs);
          wanted.set(String(key), delayMs);
          if (cancel) delays.cancel(String(key));
          if (cancel) wanted.delete(String(key));
        }
        expect(delays.size).toBe(wanted.size);
        await clock.advance(500);
        expect(fired).toEqual(wanted);
        expect([delays.size, clock.timers]).toEqual([0, 0]);
      }),
      { numRuns: 50 },
    );
  });

  test("forgets nothing when it throws out the many that were cancelled", async () => {
    const clock = new FakeClock();
    const fired: string[] = [];
    const delays = new Delays(clock, (key) => fired.push(`${key} ${clock.monotonicMs()}`));
    const keys = [...Array(20).keys()];
    // Set far in the future again and again: more than a thousand are cancelled, and would stay for long.
    for (let round = 0; round < 100; round++) for (const key of keys) delays.set(`${key}`, 1_000_000 + round);
    for (const key of keys.toReversed()) delays.set(`${key}`, 10 * (key + 1));
    await clock.advance(200);
    expect(fired).toEqual(keys.map((key) => `${key} ${10 * (key + 1)}`));
    expect([delays.size, clock.timers]).toEqual([0, 0]);
  });

  test("keeps one timer however many keys wait, and none once cleared", () => {
    const clock = new FakeClock();
    const delays = new Delays(clock, () => undefined);
    for (let i = 0; i < 5000; i++) delays.set(`key-${i % 100}`, 1_000_000 - i);
    expect(clock.timers).toBe(1);
    expect(delays.leftMs("key-99")).toBe(1_000_000 - 4999);
    delays.clear();
    expect([clock.timers, delays.size]).toEqual([0, 0]);
  });
});
