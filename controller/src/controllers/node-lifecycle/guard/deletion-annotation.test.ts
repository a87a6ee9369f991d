import { describe, expect, test } from "vitest";
import { formatAnnotation, type RecordedDeletions, parseAnnotation } from "./deletion-annotation.ts";

const NOW = { monotonicMs: 1_000_000, wallMs: Date.UTC(2026, 10, 21, 12, 0, 0) };
const AT = "2026-11-21T12:00:00.000Z";
const ago = (ms: number, count = 1) => ({ atMs: NOW.monotonicMs - ms, count });
const recorded = (parts: Partial<RecordedDeletions>): RecordedDeletions => ({
  deletions: [],
  unknownAtMs: undefined,
  announced: 0,
  ...parts,
});

describe("formatAnnotation()", () => {
  test.each<{ it: string; of: Partial<RecordedDeletions>; want: object | undefined }>([
    { it: "is none where nothing went", of: {}, want: undefined },
    { it: "reports how long ago", of: { deletions: [ago(35_000, 2)] }, want: { secondsAgo: { 35: 2 } } },
    { it: "never reports too long ago", of: { deletions: [ago(34_999)] }, want: { secondsAgo: { 30: 1 } } },
    {
      it: "adds up what went in the same five seconds",
      of: { deletions: [ago(9999), ago(5000, 4), ago(4999)] },
      want: { secondsAgo: { 0: 1, 5: 5 } },
    },
    {
      it: "counts what is announced as gone",
      of: { announced: 2, deletions: [ago(1)] },
      want: { secondsAgo: { 0: 3 } },
    },
    {
      it: "reports since when it is unknown what went",
      of: { unknownAtMs: NOW.monotonicMs - 61_000 },
      want: { secondsAgo: {}, unknownSecondsAgo: 60 },
    },
  ])("$it", ({ of, want }) => {
    const text = formatAnnotation(recorded(of), NOW);
    expect(text === undefined ? undefined : JSON.parse(text)).toEqual(
      want === undefined ? want : { time: AT, ...want },
    );
  });

  test("stays small however many Nodes went, and can be read again", () => {
    const deletions = Array.from({ length: 600_000 }, (_, ms) => ago(ms));
    const text = formatAnnotation(recorded({ deletions, unknownAtMs: 0 }), NOW) ?? "";
    expect(text.length).toBeLessThan(2048);
    const read = parseAnnotation(text, NOW.monotonicMs);
    expect(read?.deletions.reduce((sum, { count }) => sum + count, 0)).toBe(600_000);
  });
});

describe("parseAnnotation()", () => {
  test("counts on from when the note is first seen, by the clock of the client that reads it", () => {
    const text = JSON.stringify({
      time: "1970-01-01T00:00:00.000Z",
      secondsAgo: { 0: 3, 35: 2 },
      unknownSecondsAgo: 60,
    });
    expect(parseAnnotation(text, 500_000)).toEqual({
      deletions: [
        { atMs: 500_000, count: 3 },
        { atMs: 465_000, count: 2 },
      ],
      unknownAtMs: 440_000,
    });
  });

  test("lets later versions say more", () => {
    const text = JSON.stringify({ time: AT, secondsAgo: { 900: 1 }, more: true });
    expect(parseAnnotation(text, 0)).toEqual({ deletions: [{ atMs: -900_000, count: 1 }], unknownAtMs: undefined });
  });

  test.each([
    [""],
    ["yes"],
    ["null"],
    ["[]"],
    ["{}"],
    ['{"time":1,"secondsAgo":{}}'],
    ['{"time":"","secondsAgo":[]}'],
    ['{"time":"","secondsAgo":null}'],
    ['{"time":"","secondsAgo":{"soon":1}}'],
    ['{"time":"","secondsAgo":{"-5":1}}'],
    ['{"time":"","secondsAgo":{"1e3":1}}'],
    ['{"time":"","secondsAgo":{"5":0}}'],
    ['{"time":"","secondsAgo":{"5":-1}}'],
    ['{"time":"","secondsAgo":{"5":1.5}}'],
    ['{"time":"","secondsAgo":{"5":1e99}}'],
    ['{"time":"","secondsAgo":{"5":"1"}}'],
    ['{"time":"","secondsAgo":{"__proto__":1}}'],
    ['{"time":"","secondsAgo":{},"unknownSecondsAgo":-1}'],
    ['{"time":"","secondsAgo":{},"unknownSecondsAgo":"1"}'],
    [`{"time":"${"x".repeat(9000)}","secondsAgo":{}}`],
  ])("does not understand %s", (text) => {
    expect(parseAnnotation(text, 0)).toBeUndefined();
  });
});
