import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { Lanes } from "./subqueues.ts";
import { NO_QUEUE_METRICS } from "./metrics.ts";
import type { Priority } from "../util/semaphore.ts";
import { DEFAULT_BACKOFF, createWorkqueue, exponentialLimiter } from "./rate-limited-queue.ts";

/** `east/1` is in lane east. */
const laneOf = (key: string): string => key.split("/")[0] ?? "";

function fill(lanes: Lanes, keys: readonly string[], priority: Priority = "high"): void {
  for (const [index, key] of keys.entries()) lanes.add(key, priority, index);
}

/** What is given out until nothing more is. */
function takeAll(lanes: Lanes): readonly string[] {
  const taken: string[] = [];
  for (let next = lanes.take(); next !== undefined; next = lanes.take()) taken.push(next.key);
  return taken;
}

describe("Lanes", () => {
  test("takes the keys of a full lane for none of the others' room", () => {
    const lanes = new Lanes({ laneOf, limit: 2 });
    fill(lanes, ["east/1", "east/2", "east/3", "west/1", "west/2", "west/3"]);
    expect(takeAll(lanes)).toEqual(["east/1", "east/2", "west/1", "west/2"]);
    lanes.done("west/1");
    expect(takeAll(lanes)).toEqual(["west/3"]);
    expect(lanes.size).toBe(1);
    lanes.done("east/2");
    expect(takeAll(lanes)).toEqual(["east/3"]);
  });

  test("gives what matters more first over all lanes, then what has waited longer", () => {
    const lanes = new Lanes({ laneOf, limit: 9 });
    fill(lanes, ["east/low"], "low");
    fill(lanes, ["west/old", "east/new"]);
    expect(takeAll(lanes)).toEqual(["west/old", "east/new", "east/low"]);
  });

  test("lets a key of low priority through when the only ones of high priority are in full lanes", () => {
    const lanes = new Lanes({ laneOf, limit: 1 });
    fill(lanes, ["east/1", "east/2"]);
    fill(lanes, ["west/low"], "low");
    expect(takeAll(lanes)).toEqual(["east/1", "west/low"]);
  });

  test("knows how many of its lane go before a key", () => {
    const lanes = new Lanes({ laneOf, limit: 1 });
    fill(lanes, ["east/1", "west/1", "east/2"]);
    fill(lanes, ["east/low", "east/lower"], "low");
    const ahead = ["east/1", "east/2", "east/lower", "west/1", "west/2"].map((key) => lanes.ahead(key));
    expect(ahead).toEqual([0, 1, 3, 0, undefined]);
    lanes.take();
    expect([lanes.ahead("east/1"), lanes.ahead("east/2")]).toEqual([undefined, 0]);
  });

  test("asks for a key's lane once as long as it is in line or in work", () => {
    const asked: string[] = [];
    const lanes = new Lanes({
      laneOf: (key) => {
        asked.push(key);
        return "one";
      },
      limit: 1,
    });
    lanes.add("a", "low", 0);
    lanes.add("a", "high", 1);
    expect(lanes.take()).toEqual({ key: "a", priority: "high", addedMs: 0 });
    lanes.done("a");
    lanes.add("a", "low", 2);
    expect(asked).toEqual(["a", "a"]);
  });

  test("no lane ever has more keys in work than its limit, and every key is given out once", () => {
    const key = fc.tuple(fc.constantFrom("east", "west", "north"), fc.nat(20)).map((parts) => parts.join("/"));
    fc.assert(
      fc.property(fc.array(key), fc.integer({ min: 1, max: 3 }), (keys, limit) => {
        const lanes = new Lanes({ laneOf, limit });
        fill(lanes, keys);
        const taken: string[] = [];
        while (lanes.size > 0) {
          const batch = takeAll(lanes);
          const perLane = Object.values(Object.groupBy(batch, laneOf)).map((group) => group?.length ?? 0);
          expect(Math.max(...perLane)).toBeLessThanOrEqual(limit);
          for (const one of batch) lanes.done(one);
          taken.push(...batch);
        }
        expect(taken.toSorted()).toEqual([...new Set(keys)].toSorted());
      }),
    );
  });
});

test("a queue gives a waiting worker the next key of a lane as soon as the lane has room", async () => {
  const clock = new FakeClock();
  const limiter = exponentialLimiter(DEFAULT_BACKOFF);
  const queue = createWorkqueue({ clock, limiter, metrics: NO_QUEUE_METRICS, lanes: { laneOf, limit: 1 } });
  const { signal } = new AbortController();
  for (const key of ["east/1", "east/2", "west/1"]) queue.add(key);
  expect((await queue.get(signal))?.key).toBe("east/1");
  expect((await queue.get(signal))?.key).toBe("west/1");
  const next = queue.get(signal);
  expect(queue.depth).toBe(1);
  queue.done("east/1");
  expect((await next)?.key).toBe("east/2");
  queue.shutDown();
});
