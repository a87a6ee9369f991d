import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { FakeClock, settle } from "../../test/support/fake-clock.ts";
import { aborted, childSignal, deadlineSignal, raceAbort, signalFan, sleep } from "./abort.ts";

const listeners = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

describe("childSignal()", () => {
  test("aborts with its parent's reason, also when that was aborted before", () => {
    const parent = new AbortController();
    using early = childSignal(parent.signal);
    parent.abort("why");
    using late = childSignal(parent.signal);
    expect([early.signal.reason, late.signal.reason]).toEqual(["why", "why"]);
  });

  test("leaves nothing on its parent once disposed, and does not abort it", () => {
    const parent = new AbortController();
    {
      using child = childSignal(parent.signal);
      expect(listeners(parent.signal)).toBe(1);
      child.abort("mine");
    }
    expect(listeners(parent.signal)).toBe(0);
    expect(parent.signal.aborted).toBe(false);
  });
});

describe("signalFan()", () => {
  test("aborts all of its children with the parent's reason, later ones too, and no disposed one", () => {
    const parent = new AbortController();
    using fan = signalFan(parent.signal);
    const [early, ended] = [fan.child(), fan.child()];
    ended[Symbol.dispose]();
    parent.abort("why");
    const reasons = [early, ended, fan.child()].map(({ signal }) => signal.reason);
    expect(reasons).toEqual(["why", undefined, "why"]);
  });

  test("aborts its children also when its parent was aborted before", () => {
    using fan = signalFan(AbortSignal.abort("why"));
    expect(fan.child().signal.reason).toBe("why");
  });

  test("adds one listener for all children and removes it when disposed", () => {
    const parent = new AbortController();
    const fan = signalFan(parent.signal);
    fan.child();
    fan.child();
    expect(listeners(parent.signal)).toBe(1);
    fan[Symbol.dispose]();
    expect(listeners(parent.signal)).toBe(0);
    expect(parent.signal.aborted).toBe(false);
  });
});

describe("deadlineSignal()", () => {
  test("aborts after its timeout, naming the operation", async () => {
    const clock = new FakeClock();
    using deadline = deadlineSignal(new AbortController().signal, 500, "GET nodes/n1", clock);
    await clock.advance(499);
    expect(deadline.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(deadline.signal.reason).toMatchObject({
      code: "DEADLINE_EXCEEDED",
      message: "GET nodes/n1: no response within 500 ms",
    });
  });

  test("cancels its timer when disposed", () => {
    const clock = new FakeClock();
    deadlineSignal(new AbortController().signal, 500, "x", clock)[Symbol.dispose]();
    expect(clock.timers).toBe(0);
  });
});

describe("sleep()", () => {
  test("ends after its time and leaves no listener", async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    let woke = false;
    const sleeping = sleep(100, signal, clock).then(() => (woke = true));
    await clock.advance(99);
    expect(woke).toBe(false);
    await clock.advance(1);
    await sleeping;
    expect(listeners(signal)).toBe(0);
  });

  test("ends with the reason when aborted, before or during, and leaves no timer", async () => {
    const clock = new FakeClock();
    const abort = new AbortController();
    const during = sleep(100, abort.signal, clock);
    abort.abort(new Error("stop"));
    await expect(during).rejects.toThrow("stop");
    await expect(sleep(100, abort.signal, clock)).rejects.toThrow("stop");
    expect(clock.timers).toBe(0);
  });
});

describe("raceAbort()", () => {
  test("settles with the promise and leaves no listener", async () => {
    const { signal } = new AbortController();
    expect(await raceAbort(Promise.resolve(1), signal)).toBe(1);
    await expect(raceAbort(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
    await settle();
    expect(listeners(signal)).toBe(0);
  });

  test("does not wait for a pending promise, and handles its late rejection", async () => {
    const abort = new AbortController();
    const late = Promise.withResolvers<never>();
    const race = raceAbort(late.promise, abort.signal);
    abort.abort(new Error("stop"));
    await expect(race).rejects.toThrow("stop");
    await expect(raceAbort(late.promise, abort.signal)).rejects.toThrow("stop");
    late.reject(new Error("late"));
    await settle();
  });
});

describe("aborted()", () => {
  test("resolves immediately if aborted, otherwise on abort", async () => {
    const abort = new AbortController();
    const waiting = aborted(abort.signal);
    abort.abort();
    await expect(Promise.all([waiting, aborted(abort.signal)])).resolves.toBeDefined();
  });
});
