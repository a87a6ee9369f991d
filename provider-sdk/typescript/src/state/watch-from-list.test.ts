import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CallContext } from "../definition/call-context.ts";
import type { Instance, InstanceEvent } from "../definition/instances.ts";
import type { WatchRequest } from "../definition/requests.ts";
import type { LoadBalancer } from "../definition/load-balancers.ts";
import { unreachable } from "../results/results.ts";
import { createLogger } from "../telemetry/log.ts";
import { createTestClock } from "../testing/test-clock.ts";
import { watchFromList } from "./watch-from-list.ts";

const machine = (id: string, type = "small"): Instance => ({ id, name: id, type });

/** How a list goes wrong. */
type Flaw = "none" | "throws" | "unreachable" | "refused request";

const contextWith = (signal: AbortSignal, logged: string[] = []): CallContext => ({
  signal,
  remainingMs: () => 1_000,
  method: "WatchInstances",
  requestId: "r-1",
  cluster: { id: "cluster-1" },
  log: createLogger({ level: "debug", write: (line) => logged.push(line), now: () => new Date(0) }),
  fetch: () => Promise.reject(new Error("no cloud")),
  recordCloudCall: () => undefined,
});

/** A cloud with machines that the test changes, and a watch of it that lists every 60 s. */
const setUp = (request: Partial<WatchRequest> = {}) => {
  const clock = createTestClock(0);
  const end = new AbortController();
  const cloud: { machines: readonly Instance[]; flaw: Flaw } = { machines: [], flaw: "none" };
  const lists: number[] = [];
  const logged: string[] = [];
  async function* list(context: CallContext) {
    lists.push(clock.nowMs());
    const { machines, flaw } = cloud;
    // The flaw hides the last machine.
    yield* flaw === "none" ? machines : machines.slice(0, -1);
    if (flaw === "throws") throw new Error("the page was cut short");
    if (flaw === "unreachable") yield unreachable("zone-b");
    if (flaw === "refused request") context.recordCloudCall({ status: 503 });
  }
  const watch = watchFromList.instances(list, { clock });
  const events = watch({ sendInitialEvents: true, ...request }, contextWith(end.signal, logged));
  const seen: InstanceEvent[] = [];
  const reading = (async () => {
    // The test has said by then what there is at first.
    await Promise.resolve();
    for await (const event of events) seen.push(event);
  })();
  reading.catch(() => undefined);
  /** The next list, over this cloud, and the events that it brought. */
  const next = async (machines: readonly Instance[], flaw: Flaw = "none") => {
    Object.assign(cloud, { machines, flaw });
    const before = seen.length;
    await clock.advance(60_000);
    return seen.slice(before).map(brief);
  };
  return { cloud, clock, seen, next, lists, logged, reading, end };
};

const brief = (event: InstanceEvent): string => {
  switch (event.kind) {
    case "upsert":
      return `${event.instance.id} ${event.instance.type}`;
    case "gone":
      return `${event.id} gone ${event.absence.basis}`;
    case "bookmark":
      return event.initialEventsEnd ? "all" : "bookmark";
    case "resync":
      return `resync: ${event.message}`;
    default:
      return event satisfies never;
  }
};

describe("watchFromList.instances()", () => {
  test("yields what is there, then what is new, different or gone, and nothing for what is the same", async () => {
    const { cloud, clock, seen, next, lists } = setUp();
    cloud.machines = [machine("a"), machine("b")];
    await clock.advance(0);
    expect(seen.map(brief)).toEqual(["a small", "b small", "all"]);
    expect(await next([machine("a"), machine("b", "large"), machine("c")])).toEqual(["b large", "c small"]);
    expect(await next([machine("a"), machine("b", "large"), machine("c")])).toEqual([]);
    expect(await next([machine("b", "large")])).toEqual(["a gone COMPLETE_LIST_MISS", "c gone COMPLETE_LIST_MISS"]);
    expect(lists).toEqual([0, 60_000, 120_000, 180_000]);
  });

  test("dates an absence to the beginning of the list", async () => {
    const { cloud, clock, seen, next } = setUp();
    cloud.machines = [machine("a")];
    await clock.advance(0);
    await next([]);
    expect(seen.at(-1)).toMatchObject({
      kind: "gone",
      id: "a",
      absence: { kind: "absent", basis: "COMPLETE_LIST_MISS", observeTime: new Date(60_000) },
    });
  });

  test("has a token with each event, the same for the whole watch and no other's", async () => {
    const tokensOf = async () => {
      const { cloud, clock, seen, next } = setUp();
      cloud.machines = [machine("a")];
      await clock.advance(0);
      await next([]);
      return seen.map(({ token }) => token);
    };
    const [first, second] = [await tokensOf(), await tokensOf()];
    expect(first).toEqual([expect.stringMatching(/./), first[0], first[0]]);
    expect(second[0]).not.toBe(first[0]);
  });

  test("does not take another time of reading for a change", async () => {
    const { cloud, clock, next } = setUp();
    cloud.machines = [{ ...machine("a"), readTime: new Date(1) }];
    await clock.advance(0);
    expect(await next([{ ...machine("a"), readTime: new Date(2) }])).toEqual([]);
  });

  test("yields no machine at first where no initial events are wanted", async () => {
    const { cloud, clock, seen, next } = setUp({ sendInitialEvents: false });
    cloud.machines = [machine("a")];
    await clock.advance(0);
    expect(seen.map(brief)).toEqual(["bookmark"]);
    expect(await next([machine("b")])).toEqual(["b small", "a gone COMPLETE_LIST_MISS"]);
  });

  test.each(["throws", "unreachable", "refused request"] as const)(
    "makes nothing disappear by a list with the flaw: %s",
    async (flaw) => {
      const { cloud, clock, next } = setUp();
      cloud.machines = [machine("a"), machine("b")];
      await clock.advance(0);
      expect(await next([machine("a", "large"), machine("b")], flaw)).toEqual(["a large"]);
      expect(await next([], flaw)).toEqual([]);
      expect(await next([])).toEqual(["a gone COMPLETE_LIST_MISS", "b gone COMPLETE_LIST_MISS"]);
    },
  );

  test("lets a request that fails in fetch make nothing disappear, though the list swallows it", async () => {
    const clock = createTestClock(0);
    const end = new AbortController();
    let machines = [machine("a")];
    async function* list({ fetch }: CallContext) {
      yield* machines;
      if (machines.length === 0) await fetch("https://acme.example.com").catch(() => undefined);
    }
    const watch = watchFromList.instances(list, { clock });
    const events = watch({ sendInitialEvents: true }, contextWith(end.signal));
    expect([await events.next(), await events.next()]).toMatchObject([{ value: { kind: "upsert" } }, { done: false }]);
    machines = [];
    const next = events.next();
    await clock.advance(60_000);
    machines = [machine("b")];
    await clock.advance(60_000);
    // The first event after that list is of the next one, which was not refused anything.
    expect(await next).toMatchObject({ value: { kind: "upsert", instance: { id: "b" } } });
    expect(await events.next()).toMatchObject({ value: { kind: "gone", id: "a" } });
  });

  test("says after the initial events that they were not all", async () => {
    const { cloud, clock, seen, next } = setUp();
    Object.assign(cloud, { machines: [machine("a"), machine("b")], flaw: "unreachable" });
    await clock.advance(0);
    expect(seen.map(brief)).toEqual(["a small", "all", "resync: zone-b could not be read"]);
    expect(await next([machine("a"), machine("b")])).toEqual(["b small"]);
  });

  test("goes on after a list that failed, and says so in the log", async () => {
    const { clock, next, logged } = setUp();
    await clock.advance(0);
    await next([machine("a"), machine("b")], "throws");
    expect(logged.join("")).toContain("the page was cut short");
    expect(await next([machine("a"), machine("b")])).toEqual(["b small"]);
  });

  test("ends with what the first list throws", async () => {
    const { cloud, clock, reading } = setUp();
    cloud.flaw = "throws";
    await clock.advance(0);
    await expect(reading).rejects.toThrow("the page was cut short");
  });

  test("refuses to continue after a token", async () => {
    const { clock, reading, lists } = setUp({ resumeToken: "t-1" });
    await clock.advance(0);
    await expect(reading).rejects.toMatchObject({ reason: "RESUME_TOKEN_EXPIRED" });
    expect(lists).toEqual([]);
  });

  test("ends with its signal, and stops listing", async () => {
    const { clock, reading, end, lists } = setUp();
    await clock.advance(0);
    end.abort(new Error("the watch has ended"));
    await expect(reading).rejects.toThrow("the watch has ended");
    await clock.advance(600_000);
    expect([lists, clock.pendingTimers()]).toEqual([[0], 0]);
  });

  test("never calls gone what the cloud has, and shows all of it after a list without flaw, whatever happens", async () => {
    const machines = fc.uniqueArray(
      fc.record({ id: fc.constantFrom("a", "b", "c", "d"), type: fc.constantFrom("small", "large") }),
      { selector: ({ id }) => id },
    );
    const flaw = fc.constantFrom<Flaw>("none", "throws", "unreachable", "refused request");
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(machines, flaw), { maxLength: 12 }), machines, async (history, last) => {
        const { clock, seen, next, end } = setUp();
        await clock.advance(0);
        for (const [now, broken] of history) {
          const reported = await next(
            now.map(({ id, type }) => machine(id, type)),
            broken,
          );
          const present = new Set<string>(now.map(({ id }) => id));
          const wronglyGone = reported.filter((text) => text.includes("gone") && present.has(text.slice(0, 1)));
          expect([wronglyGone, broken === "none" || reported.every((text) => !text.includes("gone"))]).toEqual([
            [],
            true,
          ]);
        }
        await next(last.map(({ id, type }) => machine(id, type)));
        const view = new Map<string, string | undefined>();
        for (const event of seen) {
          if (event.kind === "upsert") view.set(event.instance.id, event.instance.type);
          if (event.kind === "gone") view.delete(event.id);
        }
        expect(Object.fromEntries(view)).toEqual(Object.fromEntries(last.map(({ id, type }) => [id, type])));
        end.abort(new Error("done"));
      }),
      { numRuns: 60 },
    );
  });
});

describe("watchFromList.loadBalancers()", () => {
  const service = (uid: string) => ({ namespace: "default", name: `web-${uid}`, uid });

  test("names the Service of what is gone", async () => {
    const clock = createTestClock(0);
    let balancers: readonly LoadBalancer[] = [{ id: "lb-1", service: service("u-1") }];
    async function* list() {
      yield* balancers;
    }
    const events = watchFromList.loadBalancers(list, { clock, intervalMs: 10_000 })(
      { sendInitialEvents: false },
      contextWith(new AbortController().signal),
    );
    expect((await events.next()).value).toMatchObject({ kind: "bookmark" });
    const next = events.next();
    balancers = [];
    await clock.advance(10_000);
    expect((await next).value).toMatchObject({ kind: "gone", service: service("u-1"), id: "lb-1" });
  });

  test("ends when the list yields one without Service, whose owner cannot be determined", async () => {
    async function* list() {
      yield { id: "lb-1" };
    }
    const events = watchFromList.loadBalancers(list)(
      { sendInitialEvents: true },
      contextWith(new AbortController().signal),
    );
    await expect(events.next()).rejects.toMatchObject({ reason: "INVARIANT_BROKEN" });
  });
});
