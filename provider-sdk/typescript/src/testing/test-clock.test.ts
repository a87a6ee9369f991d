import { describe, expect, test } from "vitest";
import { createTestClock } from "./test-clock.ts";

const setUp = () => {
  const clock = createTestClock(1_000);
  const seen: (readonly [what: string, atMs: number])[] = [];
  const note = (what: string) => () => void seen.push([what, clock.nowMs()]);
  return { clock, seen, note };
};

describe("createTestClock()", () => {
  test("stands still until it is moved, and calls back in the order of time", async () => {
    const { clock, seen, note } = setUp();
    clock.after(200, note("second"));
    clock.after(100, note("first"));
    clock.after(301, note("later"));
    expect([clock.nowMs(), seen]).toEqual([1_000, []]);
    await clock.advance(300);
    expect([clock.nowMs(), seen, clock.pendingTimers()]).toEqual([
      1_300,
      [
        ["first", 1_100],
        ["second", 1_200],
      ],
      1,
    ]);
  });

  test("meets timers that are set on the way, promises between them included", async () => {
    const { clock, seen, note } = setUp();
    clock.after(100, () => {
      note("first")();
      void Promise.resolve()
        .then(() => undefined)
        .then(() => clock.after(100, note("after it")));
    });
    await clock.advance(250);
    expect(seen).toEqual([
      ["first", 1_100],
      ["after it", 1_200],
    ]);
  });

  test("calls back no timer that was cancelled, and cancelling twice is harmless", async () => {
    const { clock, seen, note } = setUp();
    const cancel = clock.after(100, note("never"));
    cancel();
    cancel();
    await clock.advance(1_000);
    expect(seen).toEqual([]);
  });

  test("runs until a promise has settled, and hands on how", async () => {
    const { clock } = setUp();
    const wait = (ms: number) => new Promise<string>((resolve) => void clock.after(ms, () => resolve("done")));
    expect(await clock.runUntil(wait(250))).toBe("done");
    expect(clock.nowMs()).toBeGreaterThanOrEqual(1_250);
    await expect(clock.runUntil(Promise.reject(new Error("it failed")))).rejects.toThrow("it failed");
  });
});
