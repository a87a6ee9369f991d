import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { Subqueues } from "./subqueues.ts";
import { NO_QUEUE_METRICS } from "./metrics.ts";
import type { Priority } from "../util/semaphore.ts";
import { DEFAULT_BACKOFF, createWorkqueue, exponentialLimiter } from "./rate-limited-queue.ts";

/** `east/1` is in subqueue east. */
const subqueueOf = (key: string): string => key.split("/")[0] ?? "";

function fill(subqueues: Subqueues, keys: readonly string[], priority: Priority = "high"): void {
  for (const [index, key] of keys.entries()) subqueues.add(key, priority, index);
}

/** What is given out until nothing more is. */
function takeAll(subqueues: Subqueues): readonly string[] {
  const taken: string[] = [];
  for (let next = subqueues.take(); next !== undefined; next = subqueues.take()) taken.push(next.key);
  return taken;
}

describe("Subqueues", () => {
  test("takes the keys of a full subqueue for none of the others' room", () => {
    const subqueues = new Subqueues({ of: subqueueOf, limit: 2 });
    fill(subqueues, ["east/1", "east/2", "east/3", "west/1", "west/2", "west/3"]);
    expect(takeAll(subqueues)).toEqual(["east/1", "east/2", "west/1", "west/2"]);
    subqueues.done("west/1");
    expect(takeAll(subqueues)).toEqual(["west/3"]);
    expect(subqueues.size).toBe(1);
    subqueues.done("east/2");
    expect(takeAll(subqueues)).toEqual(["east/3"]);
  });

  test("gives what matters more first over all subqueues, then what has waited longer", () => {
    const subqueues = new Subqueues({ of: subqueueOf, limit: 9 });
    fill(subqueues, ["east/low"], "low");
    fill(subqueues, ["west/old", "east/new"]);
    expect(takeAll(subqueues)).toEqual(["west/old", "east/new", "east/low"]);
  });

  test("lets a key of low priority through when the only ones of high priority are in full subqueues", () => {
    const subqueues = new Subqueues({ of: subqueueOf, limit: 1 });
    fill(subqueues, ["east/1", "east/2"]);
    fill(subqueues, ["west/low"], "low");
    expect(takeAll(subqueues)).toEqual(["east/1", "west/low"]);
  });

  test("gives the namespaces of a subqueue turns, also when a key was added late (case A-6)", () => {
    const subqueues = new Subqueues({ of: () => "cloud", limit: 1 });
    fill(subqueues, ["busy/1", "busy/2", "busy/3"]);
    const first = subqueues.take();
    subqueues.add("quiet/web", "high", 9);
    expect(subqueues.ahead("quiet/web")).toBe(1);
    subqueues.done(first?.key ?? "");
    const order = [first?.key];
    for (let next = subqueues.take(); next !== undefined; next = subqueues.take()) {
      order.push(next.key);
      subqueues.done(next.key);
    }
    expect(order).toEqual(["busy/1", "busy/2", "quiet/web", "busy/3"]);
  });

  test("knows how many of its subqueue go before a key", () => {
    const subqueues = new Subqueues({ of: subqueueOf, limit: 1 });
    fill(subqueues, ["east/1", "west/1", "east/2"]);
    fill(subqueues, ["east/low", "east/lower"], "low");
    const ahead = ["east/1", "east/2", "east/lower", "west/1", "west/2"].map((key) => subqueues.ahead(key));
    expect(ahead).toEqual([0, 1, 3, 0, undefined]);
    subqueues.take();
    expect([subqueues.ahead("east/1"), subqueues.ahead("east/2")]).toEqual([undefined, 0]);
  });

  test("asks for a key's subqueue once as long as it is in line or in work", () => {
    const asked: string[] = [];
    const subqueues = new Subqueues({
      of: (key) => {
        asked.push(key);
        return "one";
      },
      limit: 1,
    });
    subqueues.add("a", "low", 0);
    subqueues.add("a", "high", 1);
    expect(subqueues.take()).toEqual({ key: "a", priority: "high", addedMs: 0 });
    subqueues.done("a");
    subqueues.add("a", "low", 2);
    expect(asked).toEqual(["a", "a"]);
  });

  test("no subqueue ever has more keys in work than its limit, and every key is given out once", () => {
    const key = fc.tuple(fc.constantFrom("east", "west", "north"), fc.nat(20)).map((parts) => parts.join("/"));
    fc.assert(
      fc.property(fc.array(key), fc.integer({ min: 1, max: 3 }), (keys, limit) => {
        const subqueues = new Subqueues({ of: subqueueOf, limit });
        fill(subqueues, keys);
        const taken: string[] = [];
        while (subqueues.size > 0) {
          const batch = takeAll(subqueues);
          const perSubqueue = Object.values(Object.groupBy(batch, subqueueOf)).map((group) => group?.length ?? 0);
          expect(Math.max(...perSubqueue)).toBeLessThanOrEqual(limit);
          for (const one of batch) subqueues.done(one);
          taken.push(...batch);
        }
        expect(taken.toSorted()).toEqual([...new Set(keys)].toSorted());
      }),
    );
  });
});

test("a queue gives a waiting worker the next key of a subqueue as soon as the subqueue has room", async () => {
  const clock = new FakeClock();
  const limiter = exponentialLimiter(DEFAULT_BACKOFF);
  const queue = createWorkqueue({ clock, limiter, metrics: NO_QUEUE_METRICS, subqueues: { of: subqueueOf, limit: 1 } });
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
