import type { ObjectRow, Overview } from "@cloudwire/operator-api";
import { describe, expect, test } from "vitest";
import { hasAllRows, MAX_SAMPLES, EMPTY_STATE, onEvent, onOpen, type StreamState } from "./stream-state.ts";

const row = (object: ObjectRow["object"]): ObjectRow => ({ object, state: "ok", summary: "", provider: "aws" });
const none = { ok: 0, progressing: 0, waiting: 0, blocked: 0, unmanaged: 0 };
const overview = (version: string): Overview => ({
  time: "2026-11-23T12:00:00.000Z",
  cluster: "c",
  replica: { identity: "a", isLeader: true, version },
  observing: false,
  counts: { node: none, service: none, route: none, provider: none },
  controllers: [],
  providers: [
    {
      name: "aws",
      address: "unix:///aws",
      connection: "ready",
      ready: true,
      reasons: [],
      calls: 0,
      failedCalls: 0,
      inFlight: 0,
      budgets: [
        { quotaClass: "read", queuedCalls: 0 },
        { quotaClass: "change", cloudCallsPerSecond: 5, tokens: 2.5, queuedCalls: 3 },
      ],
      deletionCircuitBreaker: { open: false, absentNodes: 0 },
    },
  ],
  alarms: [],
});

/** The state after these, each an event or a new connection. */
const after = (...events: readonly ("open" | readonly [string, unknown])[]): StreamState =>
  events.reduce<StreamState>(
    (state, event) => (event === "open" ? onOpen(state) : onEvent(state, event[0], JSON.stringify(event[1]))),
    EMPTY_STATE,
  );
const rows = (set: readonly string[], gone: readonly string[] = []): readonly [string, unknown] => [
  "rows",
  { set: set.map((name) => row(`node/${name}`)), removed: gone.map((name) => `node/${name}`) },
];
const names = ({ entries }: StreamState): readonly string[] => [...entries.values()].map(({ name }) => name);
const sample = (second: number): readonly [string, unknown] => [
  "sample",
  {
    time: new Date(second * 1_000).toISOString(),
    callsPerSecond: {},
    failedCallsPerSecond: {},
    reconcilesPerSecond: {},
  },
];
const COMPLETE = ["complete", { rows: 2 }] as const;

test("hasAllRows() is true from the end of what a connection begins with to the next connection", () => {
  const states = [
    after("open", rows(["a"])),
    after("open", rows(["a"]), COMPLETE),
    after("open", rows(["a"]), COMPLETE, rows(["b"])),
    after("open", rows(["a"]), COMPLETE, "open", rows(["a"])),
    after("open", rows(["a"]), COMPLETE, "open", rows(["a"]), COMPLETE),
  ];
  expect(states.map(hasAllRows)).toEqual([false, true, true, false, true]);
});

describe("onEvent()", () => {
  test("shows rows of the first connection as they come", () => {
    const state = after("open", rows(["a"]));
    expect(names(state)).toEqual(["a"]);
    expect(state.isComplete).toBe(false);
  });

  test("follows what changes", () => {
    const state = after("open", rows(["a", "b"]), COMPLETE, rows(["c"], ["a"]));
    expect(names(state)).toEqual(["b", "c"]);
    expect(state.isComplete).toBe(true);
  });

  test("keeps what was known in sight until another connection has sent everything, and then forgets what is gone", () => {
    const before = after("open", rows(["a", "b"]), COMPLETE, "open", rows(["b", "c"]));
    expect(names(before)).toEqual(["a", "b"]);
    expect(names(onEvent(before, "complete", '{"rows":2}'))).toEqual(["b", "c"]);
  });

  test("forgets half of what a connection sent that was lost before it had sent everything", () => {
    expect(names(after("open", rows(["a"]), "open", rows(["b"]), COMPLETE))).toEqual(["b"]);
    expect(names(after("open", rows(["a"]), COMPLETE, "open", rows(["b"]), "open", rows(["c"]), COMPLETE))).toEqual([
      "c",
    ]);
  });

  test("remembers the version that it met first", () => {
    const state = after("open", ["overview", overview("1.0.0")], ["overview", overview("1.1.0")]);
    expect([state.firstVersion, state.overview?.replica.version]).toEqual(["1.0.0", "1.1.0"]);
  });

  test("notes budgets that have a limit, and what waits for each", () => {
    expect(after(["overview", overview("1.0.0")]).budgets).toEqual([
      {
        atMs: Date.parse("2026-11-23T12:00:00.000Z"),
        tokens: { "aws change": 2.5 },
        waiting: { "aws read": 0, "aws change": 3 },
      },
    ]);
  });

  test("takes a sample once, and each in its place, however often connections send them", () => {
    const { samples } = after(sample(2), sample(3), "open", sample(1), sample(2), sample(3), sample(4));
    expect(samples.map(({ atMs }) => atMs)).toEqual([1_000, 2_000, 3_000, 4_000]);
  });

  test("keeps the last samples only", () => {
    const { samples } = after(...Array.from({ length: MAX_SAMPLES + 5 }, (_, second) => sample(second)));
    expect([samples.length, samples[0]?.atMs]).toEqual([MAX_SAMPLES, 5_000]);
  });

  test("passes over events that it does not know", () => {
    expect(after(["weather", {}])).toBe(EMPTY_STATE);
  });
});
