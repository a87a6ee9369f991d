import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { SuccessorNotes, successorMetrics } from "./handover.ts";

const WANTED = "successor.cloudwire.dev/wanted";
const OFFERED = "successor.cloudwire.dev/offered";
const TIMEOUT_MS = 60_000;
const DEFER_MS = 4400;
const NOTHING = { [WANTED]: undefined, [OFFERED]: undefined };
const METRIC = "cloudwire_leader_successor_wanted";

let clock: FakeClock;
let metrics: Metrics;
let told: string[];
/** Why each provider cannot be used. */
let doubts: Map<string, string>;
/** When providers were last heard, by the wall clock; undefined: they answer as soon as they are asked. */
let heardAtMs: number | undefined;
beforeEach(() => {
  clock = new FakeClock();
  metrics = new Metrics();
  told = [];
  doubts = new Map();
  heardAtMs = undefined;
});

function notesOf(identity: string, change: { readonly timeoutMs?: number; readonly isWarm?: () => boolean } = {}) {
  return new SuccessorNotes({
    identity,
    providers: ["east", "west"].map((name) => ({
      name,
      get doubt() {
        return doubts.get(name);
      },
      get status() {
        return { receivedAtMs: heardAtMs ?? clock.nowMs() };
      },
      askStatus: () => void told.push(`asked after ${name}`),
    })),
    timeoutMs: TIMEOUT_MS,
    deferMs: DEFER_MS,
    isWarm: () => true,
    clock,
    log: new FakeLog(),
    metrics: successorMetrics(metrics),
    onAsk: (why) => told.push(`asks: ${why}`),
    onYield: (why) => told.push(`yields: ${why}`),
    ...change,
  });
}

const offer = (identity: string, leader: string) => ({ [OFFERED]: JSON.stringify({ identity, leader }) });

describe("SuccessorNotes of a leader", () => {
  test("say nothing while all is well, and take away what an earlier leader left", () => {
    const notes = notesOf("a");
    expect(notes.write()).toEqual(NOTHING);
    notes.read({}, "a");
    expect(notes.write()).toEqual(NOTHING);
    expect(told).toEqual([]);
  });

  test("ask after the bound, once for people, and no longer once the provider is back", async () => {
    const notes = notesOf("a");
    notes.read({}, "a");
    doubts.set("east", "the provider closed the connection");
    notes.write();
    await clock.advance(TIMEOUT_MS);
    const wanted = '{"leader":"a","since":"2026-11-21T12:00:00.000Z","lost":["east"],"usable":["west"]}';
    expect([notes.write(), notes.write()]).toEqual([
      { [WANTED]: wanted, [OFFERED]: undefined },
      { [WANTED]: wanted, [OFFERED]: undefined },
    ]);
    expect(told).toEqual([
      "asks: cannot use provider east (the provider closed the connection) since 2026-11-21T12:00:00.000Z; a replica that can is asked to lead",
    ]);
    expect(await metrics.value(METRIC, {})).toBe(1);
    doubts.clear();
    expect(notes.write()).toEqual(NOTHING);
    expect(await metrics.value(METRIC, {})).toBe(0);
  });

  test("yield once to who offers, and leave on the lease who that is", async () => {
    const notes = notesOf("a");
    doubts.set("east", "gone");
    notes.read({}, "a");
    await clock.advance(TIMEOUT_MS);
    notes.write();
    notes.read(offer("b", "a"), "a");
    notes.read(offer("b", "a"), "a");
    expect(told.filter((line) => line.startsWith("yields"))).toEqual([
      "yields: gives up leadership to b, which can use east",
    ]);
    expect(notes.write()).toEqual({});
  });
});

describe("SuccessorNotes of a standby", () => {
  const asked = {
    [WANTED]: JSON.stringify({ leader: "a", since: "2026-11-21T12:00:00.000Z", lost: ["east"], usable: ["west"] }),
  };

  test("offer to lead when they can do better, until somebody has", async () => {
    const notes = notesOf("b");
    notes.read(asked, "a");
    expect(notes.propose()).toEqual({});
    await clock.advance(10_000);
    expect(notes.propose()).toEqual(offer("b", "a"));
    notes.read({ ...asked, ...offer("c", "a") }, "a");
    expect(notes.propose()).toEqual({});
  });

  test("offer nothing on what their providers said before the wish, and ask them once", async () => {
    const notes = notesOf("b");
    notes.read({}, "a");
    await clock.advance(60_000);
    heardAtMs = clock.nowMs() - 1;
    notes.read(asked, "a");
    notes.read(asked, "a");
    expect([notes.propose(), told]).toEqual([{}, ["asked after east", "asked after west"]]);
    heardAtMs = clock.nowMs() + 100;
    await clock.advance(2000);
    notes.read(asked, "a");
    expect(notes.propose()).toEqual(offer("b", "a"));
    expect(told).toHaveLength(2);
  });

  test("let others take a free lease first while they lack a provider, or another is named", () => {
    const notes = notesOf("b");
    expect(notes.deferMs()).toBe(0);
    doubts.set("west", "gone");
    expect(notes.deferMs()).toBe(DEFER_MS);
    doubts.clear();
    notes.read(offer("c", "a"), "");
    expect(notes.deferMs()).toBe(DEFER_MS);
    notes.read(offer("b", "a"), "");
    expect(notes.deferMs()).toBe(0);
  });

  test("let nobody go first for a provider that the last leader could not use either", () => {
    const notes = notesOf("b");
    doubts.set("east", "gone");
    notes.read(asked, "");
    expect(notes.deferMs()).toBe(0);
    doubts.set("west", "gone");
    expect(notes.deferMs()).toBe(DEFER_MS);
  });

  test("let nobody go first where the bound is 0", () => {
    const notes = notesOf("b", { timeoutMs: 0 });
    doubts.set("west", "gone");
    notes.read(offer("c", "a"), "");
    expect(notes.deferMs()).toBe(0);
  });
});
