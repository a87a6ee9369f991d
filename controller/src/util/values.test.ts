import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { Backoff, backoffMs } from "./backoff.ts";
import { deepEqual } from "./equal.ts";
import { causesOf, isTerminal, messageOf, RetryAfterError, retryAfterMsOf, TerminalError } from "./errors.ts";
import { iso } from "./text.ts";
import { DecodeError, numberField, recordsField, stringField, stringMapField, stringsField } from "./json.ts";
import { Lru } from "./lru.ts";
import { TokenBucket } from "./token-bucket.ts";

describe("deepEqual()", () => {
  test("holds for a value and its JSON copy, and not after one member changed", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), (value, record) => {
        const copy: unknown = JSON.parse(JSON.stringify(value));
        // JSON has no -0; Object.is distinguishes it from 0.
        expect(deepEqual(JSON.parse(JSON.stringify(value)), copy)).toBe(true);
        const [key = ""] = Object.keys(record);
        expect(deepEqual(record, { ...record, [key]: { changed: record[key] } })).toBe(false);
      }),
    );
  });

  test.each([
    { left: { a: 1, b: undefined }, right: { a: 1 }, equal: true },
    { left: { a: 1, b: 2 }, right: { b: 2, a: 1 }, equal: true },
    { left: { a: undefined }, right: { b: undefined }, equal: true },
    { left: { a: 1 }, right: { b: 1 }, equal: false },
    { left: [1, 2], right: [2, 1], equal: false },
    { left: [], right: {}, equal: false },
    { left: null, right: {}, equal: false },
    { left: Buffer.from("a"), right: Buffer.from("b"), equal: false },
  ])("$left and $right: $equal", ({ left, right, equal }) => {
    expect(deepEqual(left, right)).toBe(equal);
    expect(deepEqual(right, left)).toBe(equal);
  });
});

describe("backoffMs()", () => {
  test("doubles to its limit", () => {
    const options = { initialMs: 100, maxMs: 1000 };
    expect([1, 2, 3, 4, 5, 2000].map((n) => backoffMs(options, n, () => 0))).toEqual([100, 200, 400, 800, 1000, 1000]);
  });

  test("adds at most its share of jitter", () => {
    const options = { initialMs: 100, maxMs: 1000, jitter: 0.5 };
    expect(backoffMs(options, 1, () => 0.999)).toBeCloseTo(149.95);
  });

  test("starts again after a reset", () => {
    const backoff = new Backoff({ initialMs: 1, maxMs: 100 }, () => 0);
    expect([backoff.nextMs(), backoff.nextMs(), backoff.failures]).toEqual([1, 2, 2]);
    backoff.reset();
    expect([backoff.nextMs(), backoff.failures]).toEqual([1, 1]);
  });
});

describe("TokenBucket", () => {
  test("admits the burst, then the rate, and queues concurrent requests", async () => {
    const clock = new FakeClock();
    const bucket = new TokenBucket({ perSecond: 10, burst: 2 }, clock);
    expect([1, 2, 3, 4].map(() => Math.round(bucket.reserveMs()))).toEqual([0, 0, 100, 200]);
    await clock.advance(10_000);
    expect([1, 2, 3].map(() => Math.round(bucket.reserveMs()))).toEqual([0, 0, 100]);
  });

  test("take() waits for its turn", async () => {
    const clock = new FakeClock();
    const bucket = new TokenBucket({ perSecond: 10, burst: 1 }, clock);
    const { signal } = new AbortController();
    expect(await bucket.take(signal)).toBe(0);
    let waitedMs = -1;
    const waiting = bucket.take(signal).then((ms) => (waitedMs = ms));
    await clock.advance(99);
    expect(waitedMs).toBe(-1);
    await clock.advance(1);
    await waiting;
    expect(waitedMs).toBeCloseTo(100);
  });

  test("tryTake() never goes into debt", () => {
    const bucket = new TokenBucket({ perSecond: 1, burst: 1 }, new FakeClock());
    expect([bucket.tryTake(), bucket.tryTake()]).toEqual([true, false]);
  });
});

describe("iso()", () => {
  test("writes a time, and of one beyond all dates the last there is", () => {
    expect(iso(Date.UTC(2026, 10, 23, 6, 0, 0, 7))).toBe("2026-11-23T06:00:00.007Z");
    // A provider may ask for a wait of any length.
    expect(iso(9e18)).toBe("+275760-09-13T00:00:00.000Z");
  });
});

describe("errors", () => {
  const deep = new Error("ensure failed", {
    cause: new Error("call failed", { cause: new RetryAfterError("throttled", 7000) }),
  });

  test("retryAfterMsOf() finds the wait however deep it is", () => {
    expect(retryAfterMsOf(deep)).toBe(7000);
    expect(retryAfterMsOf(new Error("x"))).toBeUndefined();
    expect(retryAfterMsOf({ retryAfterMs: "7" })).toBeUndefined();
  });

  test("isTerminal() sees through wrapping", () => {
    expect(isTerminal(new Error("x", { cause: new TerminalError("quota is 0") }))).toBe(true);
    expect(isTerminal(deep)).toBe(false);
  });

  test("messageOf() includes each cause once and survives a cycle", () => {
    expect(messageOf(deep)).toBe("ensure failed: call failed: throttled");
    expect(messageOf(new Error("a: b", { cause: new Error("b") }))).toBe("a: b");
    const ofGrpc = Object.assign(new Error("8 RESOURCE_EXHAUSTED: no room"), { details: "no room" });
    expect(messageOf(new Error("acme EnsureRoutes: no room", { cause: ofGrpc }))).toBe("acme EnsureRoutes: no room");
    expect(messageOf(new Error("call failed", { cause: ofGrpc }))).toBe("call failed: 8 RESOURCE_EXHAUSTED: no room");
    const loop = new Error("loop");
    loop.cause = loop;
    expect(messageOf(loop)).toBe("loop");
    expect(causesOf(loop)).toHaveLength(16);
  });
});

describe("JSON field readers", () => {
  test("take absent and null for Go's zero value", () => {
    const record = { a: null };
    expect([stringField(record, "a"), stringField(record, "b"), numberField(record, "b")]).toEqual(["", "", 0]);
    expect([stringsField(record, "a"), stringMapField(record, "b"), recordsField(record, "b", () => 1)]).toEqual([
      [],
      {},
      [],
    ]);
  });

  test.each([
    { what: "a number for a text", read: () => stringField({ a: 1 }, "a"), message: "a: want a text, got number" },
    {
      what: "an object for an array",
      read: () => stringsField({ a: {} }, "a"),
      message: "a: want an array, got object",
    },
    {
      what: "a number among texts",
      read: () => stringsField({ a: ["x", 1] }, "a"),
      message: "a: want a text, got number",
    },
    {
      what: "a number as a label",
      read: () => stringMapField({ a: { x: 1 } }, "a"),
      message: "a[x]: want a text, got number",
    },
  ])("refuse $what", ({ read, message }) => {
    expect(read).toThrow(new DecodeError(message));
  });
});

describe("Lru", () => {
  test("evicts the least recently used entry", () => {
    const lru = new Lru<string, number>(2);
    lru.set("a", 1);
    lru.set("b", 2);
    lru.get("a");
    lru.set("c", 3);
    expect([lru.get("a"), lru.get("b"), lru.get("c"), lru.size]).toEqual([1, undefined, 3, 2]);
  });
});
