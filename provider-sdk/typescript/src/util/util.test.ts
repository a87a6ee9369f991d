import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createTestClock } from "../testing/test-clock.ts";
import { Limit, chunksOf, inHalves, inParallel } from "./parallel.ts";
import { every, fromDuration, systemClock, toDuration } from "./clock.ts";
import { LruMap } from "../state/lru.ts";
import { SharedTask } from "../state/shared-task.ts";

describe("durations", () => {
  test("come back as they went, in whole milliseconds", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (ms) => {
        expect(fromDuration(toDuration(ms), 0)).toBe(ms);
      }),
    );
  });
});

test.each([
  [0, []],
  [2, [[0, 1]]],
  [5, [[0, 1], [2, 3], [4]]],
])("chunksOf() parts %i items by two", (count, expected) => {
  expect(chunksOf([...Array(count).keys()], 2)).toEqual(expected);
});

describe("inParallel()", () => {
  test("works on so many at once and answers in the items' order", async () => {
    const blockers = [3, 1, 2].map(() => Promise.withResolvers<void>());
    const begun: number[] = [];
    const answers = inParallel([0, 1, 2], 2, async (index) => {
      begun.push(index);
      await blockers[index]?.promise;
      return index * 10;
    });
    expect(begun).toEqual([0, 1]);
    blockers[1]?.resolve();
    await expect.poll(() => begun).toEqual([0, 1, 2]);
    blockers[2]?.resolve();
    blockers[0]?.resolve();
    expect(await answers).toEqual([0, 10, 20]);
  });

  test("begins nothing more once one has failed", async () => {
    const blockers = [0, 1].map(() => Promise.withResolvers<void>());
    const begun: number[] = [];
    const answers = inParallel([0, 1, 2, 3], 2, async (index) => {
      begun.push(index);
      await blockers[index]?.promise;
    });
    blockers[0]?.reject(new Error("no"));
    await expect(answers).rejects.toThrow("no");
    blockers[1]?.resolve();
    await blockers[1]?.promise;
    await Promise.resolve();
    expect(begun).toEqual([0, 1]);
  });

  test("fails with what fails, and has nothing to do for nothing", async () => {
    const work = async (): Promise<never> => {
      throw new Error("no");
    };
    await expect(inParallel([1], 8, work)).rejects.toThrow("no");
    expect(await inParallel([], 8, work)).toEqual([]);
  });
});

describe("Limit", () => {
  test("lets so many run at once, in order, and every one in the end, even if some give up", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.boolean(), { maxLength: 30, size: "max" }),
        async (max, givesUp) => {
          const limit = new Limit(max);
          let running = 0;
          let most = 0;
          const work = async () => {
            running += 1;
            most = Math.max(most, running);
            await Promise.resolve();
            running -= 1;
            return "done";
          };
          const outcomes = givesUp.map((gives) => {
            const caller = new AbortController();
            const outcome = limit.run(caller.signal, work).catch(() => "gave up");
            if (gives) caller.abort(new Error("gone"));
            return outcome;
          });
          const ended = await Promise.all(outcomes);
          expect(ended.filter((outcome, index) => outcome !== "done" && !givesUp[index])).toEqual([]);
          expect(most).toBeLessThanOrEqual(max);
          expect(running).toBe(0);
        },
      ),
    );
  });
});

describe("Limit with a caller that gives up as its turn comes", () => {
  test.each([0, 1, 2, 3, 4, 5, 6, 7])(
    "hands the turn on when the abort comes %i ticks after the release",
    async (ticks) => {
      const limit = new Limit(1);
      const never = new AbortController().signal;
      const impatient = new AbortController();
      const guard = Promise.withResolvers<void>();
      const first = limit.run(never, () => guard.promise);
      const second = limit.run(impatient.signal, async () => "ran").catch(() => "gave up");
      const third = limit.run(never, async () => "ran");
      guard.resolve();
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      impatient.abort(new Error("gone"));
      await first;
      expect(["ran", "gave up"]).toContain(await second);
      expect(await third).toBe("ran");
      expect(await limit.run(never, async () => "ran")).toBe("ran");
    },
  );
});

describe("LruMap", () => {
  test("evicts by use and by age, and reports what it evicted", () => {
    const clock = { nowMs: 0 };
    const forgotten: string[] = [];
    const map = new LruMap<string>({
      maxEntries: 2,
      maxAgeMs: 100,
      nowMs: () => clock.nowMs,
      evicted: (value) => forgotten.push(value),
    });
    map.set("a", "A");
    map.set("b", "B");
    map.get("a");
    map.set("c", "C");
    expect([map.get("a"), map.get("b"), map.get("c"), forgotten]).toEqual(["A", undefined, "C", ["B"]]);
    clock.nowMs = 101;
    expect([map.get("a"), forgotten]).toEqual([undefined, ["B", "A"]]);
    map.delete("c");
    expect([map.size, forgotten]).toEqual([0, ["B", "A"]]);
  });
});

describe("SharedTask", () => {
  test("goes on while one waits, and is aborted when the last gives up", async () => {
    const seen: { signal?: AbortSignal } = {};
    const task = new SharedTask((signal) => {
      seen.signal = signal;
      return new Promise<string>(() => undefined);
    });
    const callers = [new AbortController(), new AbortController()];
    const joined = callers.map(({ signal }) => task.join(signal).catch((error: unknown) => String(error)));
    callers[0]?.abort(new Error("first"));
    await joined[0];
    expect([seen.signal?.aborted, task.abandoned]).toEqual([false, false]);
    callers[1]?.abort(new Error("second"));
    expect(await Promise.all(joined)).toEqual(["Error: first", "Error: second"]);
    expect([seen.signal?.aborted, task.abandoned]).toEqual([true, true]);
  });
});

describe("systemClock", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each([2 ** 31, 10 ** 12, Number.MAX_SAFE_INTEGER])("waits for days when the delay is %d ms", async (delayMs) => {
    const calls: string[] = [];
    const cancel = systemClock.after(delayMs, () => calls.push("called"));
    await vi.advanceTimersByTimeAsync(20 * 86_400_000);
    expect(calls).toEqual([]);
    cancel();
  });
});

describe("every", () => {
  test("calls back at each interval until it is ended, by the callback itself too", async () => {
    const clock = createTestClock(0);
    const moments: number[] = [];
    const end = every(clock, 100, () => {
      moments.push(clock.nowMs());
      if (moments.length === 3) end();
    });
    await clock.advance(1_000);
    expect([moments, clock.pendingTimers()]).toEqual([[100, 200, 300], 0]);
  });
});

describe("inHalves()", () => {
  const refusing =
    (bad: readonly number[], requests: number[][] = []) =>
    (items: readonly number[]): Promise<readonly number[]> => {
      requests.push([...items]);
      return items.some((item) => bad.includes(item)) ? Promise.reject(new Error("refused")) : Promise.resolve(items);
    };
  const isRefusal = (error: unknown): boolean => error instanceof Error && error.message === "refused";

  test.each([
    [[], [1, 2, 3, 4, 5]],
    [[3], [1, 2, 4, 5]],
    [
      [1, 5],
      [2, 3, 4],
    ],
    [[1, 2, 3, 4, 5], []],
  ])("with the refused items %j processes %j (case S-10)", async (bad, processed) => {
    const refused: number[] = [];
    const results = await inHalves([1, 2, 3, 4, 5], refusing(bad), isRefusal, (item) => refused.push(item));
    expect([results.flat(), refused]).toEqual([processed, bad]);
  });

  test("makes one request for all items if none is refused, and none for no items", async () => {
    const requests: number[][] = [];
    await inHalves([1, 2], refusing([], requests), isRefusal);
    await inHalves([], refusing([], requests), isRefusal);
    expect(requests).toEqual([[1, 2]]);
  });

  test("ends with the first error that is not of an item", async () => {
    const down = () => Promise.reject(new Error("down"));
    await expect(inHalves([1, 2], down, isRefusal)).rejects.toThrow("down");
  });
});
