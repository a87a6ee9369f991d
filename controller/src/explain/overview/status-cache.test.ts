import type { ObjectRef, ObjectRow, Overview, StreamEvents } from "@cloudwire/operator-api";
import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { StatusFeed } from "./status-feed.ts";
import { Samples } from "./samples.ts";
import { type CachedObjects, ROUND_MS, StatusCache } from "./status-cache.ts";

/** Objects that a test sets by hand. */
class Objects implements CachedObjects {
  readonly rows = new Map<ObjectRef, ObjectRow>();
  readonly watchers = new Set<(object: ObjectRef) => void>();
  /** Rows that were made. */
  made = 0;
  /** Its evaluation fails. */
  broken: ObjectRef | undefined;
  /** Called with each. */
  onMade = (): void => undefined;

  refs(): Iterable<ObjectRef> {
    return [...this.rows.keys()];
  }

  rowOf(object: ObjectRef): ObjectRow | undefined {
    this.made++;
    this.onMade();
    if (object === this.broken) throw new Error("planted");
    return this.rows.get(object);
  }

  watch(onChange: (object: ObjectRef) => void): () => void {
    this.watchers.add(onChange);
    return () => this.watchers.delete(onChange);
  }

  /** Without notice. */
  put(object: ObjectRef, state: ObjectRow["state"] = "ok", summary = ""): void {
    this.rows.set(object, { object, state, summary, provider: "p" });
  }

  change(object: ObjectRef, state: ObjectRow["state"], summary = ""): void {
    this.put(object, state, summary);
    this.notify(object);
  }

  remove(object: ObjectRef): void {
    this.rows.delete(object);
    this.notify(object);
  }

  notify(object: ObjectRef): void {
    for (const watcher of this.watchers) watcher(object);
  }
}

let clock: FakeClock;
let objects: Objects;
let overviews: number;
let slices: number[];
let log: FakeLog;
let cache: StatusCache;
let samples: Samples;

beforeEach(() => {
  clock = new FakeClock();
  log = new FakeLog();
  objects = new Objects();
  overviews = 0;
  slices = [];
  cache = new StatusCache({
    objects,
    overview: async (counts) => overview(counts),
    clock,
    log,
    onSlice: (ms) => slices.push(ms),
  });
  samples = new Samples({ totals: async () => ({ calls: {}, failedCalls: {}, reconciles: {} }), clock, log });
});

function overview(counts: Overview["counts"]): Overview {
  overviews++;
  return {
    time: `${clock.nowMs()}`,
    cluster: "test",
    replica: { identity: "one", isLeader: true, version: "1" },
    observing: false,
    counts,
    controllers: [],
    providers: [],
    alarms: [],
  };
}

type Message = { readonly [Name in keyof StreamEvents]?: StreamEvents[Name] };

/** All that a feed has to say now. */
function drain(feed: StatusFeed): readonly Message[] {
  const messages: Message[] = [];
  for (let message = feed.next(); message !== undefined; message = feed.next())
    messages.push({ [message.event]: JSON.parse(message.data) });
  return messages;
}

const rowsOf = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap(({ rows }) => rows?.set ?? []).map(({ object, state }) => `${object} ${state}`);
const goneOf = (messages: readonly Message[]): readonly string[] => messages.flatMap(({ rows }) => rows?.removed ?? []);
const round = (): Promise<void> => clock.advance(ROUND_MS);

describe("StatusCache", () => {
  test("does nothing without readers", async () => {
    objects.put("node/a");
    await clock.advance(60_000);
    expect({ made: objects.made, watchers: objects.watchers.size, timers: clock.timers }).toEqual({
      made: 0,
      watchers: 0,
      timers: 0,
    });
    await cache.look();
    expect([...cache.rows()]).toHaveLength(1);
    await clock.advance(20_000);
    expect({ watchers: objects.watchers.size, timers: clock.timers, rows: [...cache.rows()] }).toEqual({
      watchers: 0,
      timers: 0,
      rows: [],
    });
  });

  test("keeps rows for a reader that returns within seconds", async () => {
    objects.put("node/a");
    await cache.look();
    await clock.advance(10_000);
    const made = objects.made;
    await cache.look();
    expect(objects.made).toBe(made);
    await clock.advance(10_000);
    expect(objects.watchers.size).toBe(1);
  });

  test("counts by kind and state as they change", async () => {
    objects.put("node/a");
    objects.put("node/b", "blocked");
    objects.put("service/x/y", "progressing");
    await cache.look();
    objects.change("node/b", "ok");
    objects.remove("service/x/y");
    objects.change("provider/p", "waiting");
    await round();
    expect(cache.overview?.counts).toMatchObject({
      node: { ok: 2, blocked: 0 },
      service: { progressing: 0 },
      provider: { waiting: 1 },
    });
  });

  test("finds changes without notice within five rounds", async () => {
    for (let i = 0; i < 10; i++) objects.put(`node/${i}`);
    const reader = cache.open(() => undefined);
    await round();
    objects.put("node/3", "blocked");
    objects.put("node/new");
    objects.rows.delete("node/7");
    await clock.advance(10 * ROUND_MS);
    expect(cache.row("node/3")?.row.state).toBe("blocked");
    expect(cache.row("node/new")?.row.state).toBe("ok");
    expect(cache.row("node/7")).toBeUndefined();
    reader.close();
  });

  test("works in slices, with a pause for everybody else between them", async () => {
    for (let i = 0; i < 1000; i++) objects.put(`node/${i}`);
    // Each takes its time.
    let lateMs = 0;
    objects.onMade = () => (lateMs += 0.1);
    const moving = { nowMs: () => clock.nowMs(), monotonicMs: () => lateMs, schedule: clock.schedule.bind(clock) };
    cache = new StatusCache({
      objects,
      overview: async (counts) => overview(counts),
      clock: moving,
      log,
      onSlice: (ms) => slices.push(ms),
    });
    await cache.look();
    expect(slices).toHaveLength(25);
    expect(Math.max(...slices)).toBeLessThan(4.2);
    cache.stop();
  });

  test("one that changes always holds up none of the others, and is made once a round", async () => {
    objects.put("node/a");
    objects.put("node/b");
    objects.onMade = () => objects.notify("node/a");
    await cache.look();
    expect(objects.made).toBe(2);
    cache.stop();
  });

  test("an object whose evaluation fails is shown and logged, and affects no other", async () => {
    objects.put("node/a");
    objects.put("node/b");
    objects.broken = "node/a";
    await cache.look();
    expect([...cache.rows()].map(({ row }) => row)).toMatchObject([
      { object: "node/a", state: "waiting", reason: "InternalError", summary: expect.stringContaining("planted") },
      { object: "node/b", state: "ok" },
    ]);
    expect(log.lines).toMatchObject([{ level: "error", fields: { object: "node/a" } }]);
    cache.stop();
  });

  test("goes on where an overview could not be had", async () => {
    objects.put("node/a");
    let fails = true;
    cache = new StatusCache({
      objects,
      overview: async (counts) => {
        if (fails) throw new Error("planted");
        return overview(counts);
      },
      clock,
      log,
    });
    const look = cache.look();
    await round();
    expect(cache.overview).toBeUndefined();
    fails = false;
    await round();
    await look;
    expect(cache.overview).toBeDefined();
    fails = true;
    await round();
    expect(cache.overview).toBeDefined();
    cache.stop();
  });

  test("a stop in the middle of a round is the end of it", async () => {
    objects.put("node/a");
    const look = cache.look();
    cache.stop();
    await look;
    await round();
    expect({ overview: cache.overview, overviews, timers: clock.timers }).toEqual({
      overview: undefined,
      overviews: 0,
      timers: 0,
    });
  });
});

describe("StatusFeed", () => {
  test("sends everything in chunks, then completion, then only changes", async () => {
    for (let i = 0; i < 1200; i++) objects.put(`node/${i}`);
    const feed = new StatusFeed(cache, samples, () => undefined);
    expect(drain(feed)).toEqual([]);
    await clock.advance(0);
    const messages = drain(feed);
    expect(messages.map((message) => Object.keys(message)[0])).toEqual([
      "overview",
      "rows",
      "rows",
      "rows",
      "complete",
    ]);
    expect(messages.map(({ rows }) => rows?.set.length)).toEqual([undefined, 500, 500, 200, undefined]);
    expect(messages.at(-1)).toEqual({ complete: { rows: 1200 } });
    await round();
    expect(drain(feed)).toEqual([]);
    objects.change("node/7", "blocked");
    objects.remove("node/8");
    expect(drain(feed)).toEqual([]);
    await round();
    const changes = drain(feed);
    expect({ set: rowsOf(changes), gone: goneOf(changes) }).toEqual({ set: ["node/7 blocked"], gone: ["node/8"] });
    expect(changes[0]?.overview).toEqual(cache.overview);
    expect(changes[0]?.overview?.counts.node).toMatchObject({ ok: 1198, blocked: 1 });
    feed.close();
  });

  test("wakes its reader once a round, however much has changed", async () => {
    objects.put("node/a");
    let woken = 0;
    const feed = new StatusFeed(cache, samples, () => woken++);
    await clock.advance(0);
    woken = 0;
    for (let i = 0; i < 100; i++) objects.change("node/a", i % 2 === 0 ? "blocked" : "ok", `${i}`);
    await round();
    expect(woken).toBe(1);
    feed.close();
  });

  test("sends a slow reader only the last state of each object", async () => {
    objects.put("node/a");
    const feed = new StatusFeed(cache, samples, () => undefined);
    await clock.advance(0);
    drain(feed);
    for (let i = 0; i < 100; i++) {
      objects.change("node/a", "progressing", `${i}`);
      objects.change(`node/short-lived-${i % 3}`, "ok");
      await round();
    }
    const messages = drain(feed);
    expect(messages.filter(({ rows }) => rows !== undefined)).toHaveLength(1);
    expect(messages.flatMap(({ rows }) => rows?.set ?? [])[0]).toMatchObject({ object: "node/a", summary: "99" });
    feed.close();
  });

  test("says nothing that is as it was messages, and nothing of what came and went in between", async () => {
    objects.put("node/a");
    const feed = new StatusFeed(cache, samples, () => undefined);
    await clock.advance(0);
    drain(feed);
    objects.change("node/a", "ok");
    objects.change("node/b", "ok");
    objects.remove("node/b");
    await round();
    expect(drain(feed)).toEqual([]);
    feed.close();
  });

  test("a later reader gets everything, too", async () => {
    objects.put("node/a");
    const first = new StatusFeed(cache, samples, () => undefined);
    await clock.advance(0);
    drain(first);
    const second = new StatusFeed(cache, samples, () => undefined);
    const messages = drain(second);
    expect(rowsOf(messages)).toEqual(["node/a ok"]);
    expect(messages.at(-1)).toEqual({ complete: { rows: 1 } });
    expect(drain(first)).toEqual([]);
    first.close();
    second.close();
  });

  test("a cluster without any object is complete as well", async () => {
    const feed = new StatusFeed(cache, samples, () => undefined);
    await clock.advance(0);
    expect(drain(feed).map((message) => Object.keys(message)[0])).toEqual(["overview", "complete"]);
    feed.close();
  });
});
