import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { NO_QUEUE_METRICS, workqueueMetrics } from "./metrics.ts";
import type { Workqueue } from "./queue.ts";
import { DEFAULT_BACKOFF, Delays, SERVICE_BACKOFF, createWorkqueue, exponentialLimiter } from "./rate-limited-queue.ts";

const never = new AbortController().signal;

function makeQueue(clock = new FakeClock(), backoff = DEFAULT_BACKOFF): { queue: Workqueue; clock: FakeClock } {
  return { clock, queue: createWorkqueue({ clock, limiter: exponentialLimiter(backoff), metrics: NO_QUEUE_METRICS }) };
}

/** Takes everything that is ready now, finishing each key at once. */
async function takeAll(queue: Workqueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.depth > 0) {
    const item = await queue.get(never);
    if (item === undefined) break;
    keys.push(item.key);
    queue.done(item.key);
  }
  return keys;
}

describe("Workqueue.add()", () => {
  test("keeps a key once, in the order of its first add", async () => {
    const { queue } = makeQueue();
    for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
    expect(await takeAll(queue)).toEqual(["a", "b", "c"]);
  });

  test("brings a key back after its work when it was added meanwhile, and not before", async () => {
    const { queue } = makeQueue();
    queue.add("a");
    await queue.get(never);
    queue.add("a");
    queue.add("a");
    expect(queue.depth).toBe(0);
    queue.done("a");
    expect(await takeAll(queue)).toEqual(["a"]);
  });

  test("serves high before low and moves a key up, never down", async () => {
    const { queue } = makeQueue();
    queue.add("refresh-1", { priority: "low" });
    queue.add("refresh-2", { priority: "low" });
    queue.add("delete");
    queue.add("refresh-2", { priority: "high" });
    queue.add("delete", { priority: "low" });
    expect(await takeAll(queue)).toEqual(["delete", "refresh-2", "refresh-1"]);
  });

  test("lets one low key through after twenty high ones", async () => {
    const { queue } = makeQueue();
    queue.add("low", { priority: "low" });
    for (let i = 0; i < 30; i++) queue.add(`high-${i}`);
    const order = await takeAll(queue);
    expect(order.indexOf("low")).toBe(20);
    expect(order).toHaveLength(31);
  });
});

describe("Workqueue.addAfter()", () => {
  test("adds at the earliest of several times, once", async () => {
    const { queue, clock } = makeQueue();
    queue.addAfter("a", 500);
    queue.addAfter("a", 100);
    queue.addAfter("a", 900);
    await clock.advance(99);
    expect(queue.state("a")).toEqual({ kind: "delayed", inMs: 1 });
    await clock.advance(1);
    expect(await takeAll(queue)).toEqual(["a"]);
    await clock.advance(10_000);
    expect(queue.depth).toBe(0);
    expect(clock.timers).toBe(0);
  });

  test("keeps its wake-up when the key is worked on before", async () => {
    const { queue, clock } = makeQueue();
    queue.addAfter("a", 100);
    queue.add("a");
    expect(await takeAll(queue)).toEqual(["a"]);
    queue.forget("a");
    await clock.advance(100);
    expect(await takeAll(queue)).toEqual(["a"]);
  });
});

describe("Workqueue.addRateLimited()", () => {
  test.each([
    { name: "default", backoff: DEFAULT_BACKOFF, failures: 8, wantMs: [5, 10, 20, 40, 80, 160, 320, 640] },
    {
      name: "service",
      backoff: SERVICE_BACKOFF,
      failures: 8,
      wantMs: [5000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000],
    },
  ])("waits as upstream does with $name back-off", ({ backoff, failures, wantMs }) => {
    const { queue } = makeQueue(new FakeClock(), backoff);
    expect(Array.from({ length: failures }, () => queue.addRateLimited("a"))).toEqual(wantMs);
    expect(queue.failures("a")).toBe(failures);
  });

  test("goes by the newest failure when a retry is already waiting", async () => {
    const { queue, clock } = makeQueue();
    for (let i = 0; i < 4; i++) queue.addRateLimited("a");
    await clock.advance(39);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
  });
});

describe("Workqueue.forget()", () => {
  test("starts the back-off again and drops the retry that waits: success makes it needless", async () => {
    const { queue, clock } = makeQueue();
    queue.addRateLimited("a");
    queue.forget("a");
    await clock.advance(10_000);
    expect(queue.depth).toBe(0);
    expect(queue.addRateLimited("a")).toBe(5);
  });
});

describe("Workqueue.get()", () => {
  test("gives a key to the worker that has waited longest", async () => {
    const { queue } = makeQueue();
    const first = queue.get(never);
    const second = queue.get(never);
    queue.add("a");
    queue.add("b");
    expect(await Promise.all([first, second])).toEqual([
      { key: "a", priority: "high" },
      { key: "b", priority: "high" },
    ]);
  });

  test("answers undefined when its signal has aborted before, and takes no key by it", async () => {
    const { queue } = makeQueue();
    queue.add("a");
    expect(await queue.get(AbortSignal.abort())).toBeUndefined();
    expect(await takeAll(queue)).toEqual(["a"]);
  });

  test("answers undefined when its signal aborts, and loses no key by it", async () => {
    const { queue } = makeQueue();
    const abort = new AbortController();
    const waiting = queue.get(abort.signal);
    abort.abort();
    expect(await waiting).toBeUndefined();
    queue.add("a");
    expect(await takeAll(queue)).toEqual(["a"]);
  });
});

describe("Workqueue.shutDown()", () => {
  test("releases workers, ignores adds and leaves no timer", async () => {
    const { queue, clock } = makeQueue();
    queue.addAfter("a", 1000);
    queue.addRateLimited("b");
    const waiting = queue.get(never);
    queue.shutDown();
    queue.add("c");
    expect(await waiting).toBeUndefined();
    expect(await queue.get(never)).toBeUndefined();
    expect(clock.timers).toBe(0);
  });
});

describe("Workqueue.state()", () => {
  test("follows a key from one place to the next", async () => {
    const { queue, clock } = makeQueue();
    const seen = [queue.state("a")];
    queue.addAfter("a", 100, { priority: "low" });
    seen.push(queue.state("a"));
    await clock.advance(100);
    seen.push(queue.state("a"));
    queue.add("a");
    seen.push(queue.state("a"));
    await queue.get(never);
    await clock.advance(250);
    seen.push(queue.state("a"));
    expect(seen).toEqual([
      { kind: "unknown" },
      { kind: "delayed", inMs: 100 },
      { kind: "waiting", priority: "low" },
      { kind: "waiting", priority: "high" },
      { kind: "working", forMs: 250 },
    ]);
  });
});

describe("Workqueue metrics", () => {
  test("carry upstream's names", async () => {
    const metrics = new Metrics();
    const clock = new FakeClock();
    const queue = createWorkqueue({
      clock,
      limiter: exponentialLimiter(DEFAULT_BACKOFF),
      metrics: workqueueMetrics(metrics)("Nodes"),
    });
    await clock.advance(500);
    queue.add("a");
    const waiting = await metrics.value("workqueue_depth", { name: "Nodes" });
    await clock.advance(1000);
    await queue.get(never);
    await clock.advance(3000);
    const running = await metrics.value("workqueue_longest_running_processor_seconds", { name: "Nodes" });
    queue.done("a");
    queue.addRateLimited("a");
    const text = await metrics.text();
    expect([waiting, running]).toEqual([1, 3]);
    expect(text).toContain('workqueue_adds_total{name="Nodes"} 1');
    expect(text).toContain('workqueue_depth{name="Nodes"} 0');
    expect(text).toContain('workqueue_retries_total{name="Nodes"} 1');
    expect(text).toContain('workqueue_queue_duration_seconds_sum{name="Nodes"} 1');
    expect(text).toContain('workqueue_work_duration_seconds_sum{name="Nodes"} 3');
    expect(text).toContain('workqueue_unfinished_work_seconds{name="Nodes"} 0');
  });
});

describe("Workqueue.snapshot()", () => {
  test("counts what is in line, names what is in work and what comes later, each key once at its earliest time", async () => {
    const { queue, clock } = makeQueue(new FakeClock(), SERVICE_BACKOFF);
    queue.add("old");
    queue.add("young");
    await queue.get(never);
    await clock.advance(1000);
    await queue.get(never);
    queue.add("urgent");
    queue.add("later", { priority: "low" });
    queue.addAfter("soon", 2000);
    queue.addAfter("both", 60_000);
    queue.addRateLimited("both");
    queue.addAfter("last", 90_000);
    expect(queue.snapshot(2)).toEqual({
      subqueues: [{ name: "", high: 1, low: 1, working: 2 }],
      working: {
        count: 2,
        first: [
          { key: "old", forMs: 1000 },
          { key: "young", forMs: 0 },
        ],
      },
      delayed: {
        count: 3,
        first: [
          { key: "soon", inMs: 2000, failures: 0 },
          { key: "both", inMs: 5000, failures: 1 },
        ],
      },
    });
  });
});

describe("delays", () => {
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
});
