import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { Metrics } from "../telemetry/metrics.ts";
import {
  type LeaderView,
  type Offered,
  type ProviderUse,
  type StandbyView,
  HandoverAnnotation,
  type Wanted,
  decideAsLeader,
  decideAsStandby,
  parseOffered,
  parseWanted,
  handoverMetrics,
} from "./handover.ts";

const WANTED = "successor.cloudwire.dev/wanted";
const OFFERED = "successor.cloudwire.dev/offered";
const TIMEOUT_MS = 60_000;
const DEFER_MS = 4400;
const NOTHING = { [WANTED]: undefined, [OFFERED]: undefined };
const METRIC = "cloudwire_leader_handover_requested";

let clock: FakeClock;
let metrics: Metrics;
let told: string[];
/** Why each provider cannot be used. */
let untrustedReasons: Map<string, string>;
/** When providers were last heard, by the wall clock; undefined: they answer as soon as they are asked. */
let heardAtMs: number | undefined;
beforeEach(() => {
  clock = new FakeClock();
  metrics = new Metrics();
  told = [];
  untrustedReasons = new Map();
  heardAtMs = undefined;
});

function notesOf(identity: string, change: { readonly timeoutMs?: number; readonly isWarm?: () => boolean } = {}) {
  return new HandoverAnnotation({
    identity,
    providers: ["east", "west"].map((name) => ({
      name,
      get untrustedReason() {
        return untrustedReasons.get(name);
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
    metrics: handoverMetrics(metrics),
    onAsk: (why) => told.push(`asks: ${why}`),
    onYield: (why) => told.push(`yields: ${why}`),
    ...change,
  });
}

const offer = (identity: string, leader: string) => ({ [OFFERED]: JSON.stringify({ identity, leader }) });

describe("HandoverAnnotation of a leader", () => {
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
    untrustedReasons.set("east", "the provider closed the connection");
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
    untrustedReasons.clear();
    expect(notes.write()).toEqual(NOTHING);
    expect(await metrics.value(METRIC, {})).toBe(0);
  });

  test("yield once to who offers, and leave on the lease who that is", async () => {
    const notes = notesOf("a");
    untrustedReasons.set("east", "gone");
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

describe("HandoverAnnotation of a standby", () => {
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
    untrustedReasons.set("west", "gone");
    expect(notes.deferMs()).toBe(DEFER_MS);
    untrustedReasons.clear();
    notes.read(offer("c", "a"), "");
    expect(notes.deferMs()).toBe(DEFER_MS);
    notes.read(offer("b", "a"), "");
    expect(notes.deferMs()).toBe(0);
  });

  test("let nobody go first for a provider that the last leader could not use either", () => {
    const notes = notesOf("b");
    untrustedReasons.set("east", "gone");
    notes.read(asked, "");
    expect(notes.deferMs()).toBe(0);
    untrustedReasons.set("west", "gone");
    expect(notes.deferMs()).toBe(DEFER_MS);
  });

  test("let nobody go first where the bound is 0", () => {
    const notes = notesOf("b", { timeoutMs: 0 });
    untrustedReasons.set("west", "gone");
    notes.read(offer("c", "a"), "");
    expect(notes.deferMs()).toBe(0);
  });
});

describe("successor", () => {
  const START_MS = Date.UTC(2026, 10, 21, 12, 0, 0);

  const usable = (name: string, forMs = 3_600_000): ProviderUse => ({ name, isUsable: true, forMs, sinceMs: START_MS });
  const lost = (name: string, forMs: number): ProviderUse => ({
    name,
    isUsable: false,
    forMs,
    sinceMs: START_MS - forMs,
  });

  describe("decideAsLeader()", () => {
    const wanted = (change: Partial<Wanted> = {}): Wanted => ({
      leader: "a",
      since: "2026-11-21T11:59:00.000Z",
      lost: ["east"],
      usable: [],
      ...change,
    });
    test.each<{ sentence: string; view: Partial<LeaderView>; decision: ReturnType<typeof decideAsLeader> }>([
      {
        sentence: "stays while all its providers are usable",
        view: { providers: [usable("east"), usable("west")] },
        decision: { kind: "stay" },
      },
      {
        sentence: "stays while a provider is away for less than the bound",
        view: { providers: [lost("east", 59_999)] },
        decision: { kind: "stay" },
      },
      {
        sentence: "asks once a provider is away for the bound",
        view: { providers: [lost("east", 60_000)] },
        decision: { kind: "ask", wanted: wanted() },
      },
      {
        sentence: "says what it can use, and demands nothing of what it has just lost",
        view: { providers: [lost("east", 60_000), usable("west"), lost("north", 5000)] },
        decision: { kind: "ask", wanted: wanted({ usable: ["west"] }) },
      },
      {
        sentence: "names the longest absence of several",
        view: { providers: [lost("east", 60_000), lost("west", 120_000)] },
        decision: { kind: "ask", wanted: wanted({ lost: ["east", "west"], since: "2026-11-21T11:58:00.000Z" }) },
      },
      {
        sentence: "makes way for who answers it",
        view: { providers: [lost("east", 60_000)], offered: { identity: "b", leader: "a" } },
        decision: { kind: "yield", wanted: wanted(), successor: "b" },
      },
      {
        sentence: "does not make way for who answered an earlier leader",
        view: { providers: [lost("east", 60_000)], offered: { identity: "b", leader: "z" } },
        decision: { kind: "ask", wanted: wanted() },
      },
      {
        sentence: "stays although somebody offers once its provider is back",
        view: { providers: [usable("east", 0)], offered: { identity: "b", leader: "a" } },
        decision: { kind: "stay" },
      },
      {
        sentence: "stays for ever where the bound is 0",
        view: { providers: [lost("east", 3_600_000)], offered: { identity: "b", leader: "a" }, timeoutMs: 0 },
        decision: { kind: "stay" },
      },
    ])("$sentence", ({ view, decision }) => {
      const base: LeaderView = { identity: "a", providers: [], offered: undefined, timeoutMs: 60_000 };
      expect(decideAsLeader({ ...base, ...view })).toEqual(decision);
    });
  });

  describe("decideAsStandby()", () => {
    const wanted: Wanted = {
      leader: "a",
      since: "2026-11-21T11:59:00.000Z",
      lost: ["east", "west"],
      usable: ["north"],
    };
    const offer: Offered = { identity: "b", leader: "a" };
    const better = [usable("east"), usable("north"), lost("west", 1000)];
    test.each<{ sentence: string; view: Partial<StandbyView>; offered: Offered | undefined }>([
      { sentence: "offers when it can use what the leader can and some of what it lost", view: {}, offered: offer },
      { sentence: "is silent when nobody asks", view: { wanted: undefined }, offered: undefined },
      { sentence: "is silent when the one who asks leads no more", view: { holder: "c" }, offered: undefined },
      { sentence: "is silent when the lease is free", view: { holder: "" }, offered: undefined },
      {
        sentence: "is silent when somebody has answered",
        view: { offered: { identity: "c", leader: "a" } },
        offered: undefined,
      },
      {
        sentence: "offers though somebody has answered an earlier leader",
        view: { offered: { identity: "c", leader: "z" } },
        offered: offer,
      },
      {
        sentence: "is silent when it lacks one that the leader can use",
        view: { providers: [usable("east"), usable("west"), lost("north", 0)] },
        offered: undefined,
      },
      {
        sentence: "is silent when it can use no more than the leader",
        view: { providers: [lost("east", 0), lost("west", 0), usable("north")] },
        offered: undefined,
      },
      {
        sentence: "is silent when it does not know the provider",
        view: { providers: [usable("north"), usable("south")] },
        offered: undefined,
      },
      {
        sentence: "is silent until its provider has been usable for a while",
        view: { providers: [usable("east", 9999), usable("north")] },
        offered: undefined,
      },
      { sentence: "is silent until its caches are full", view: { isWarm: false }, offered: undefined },
    ])("$sentence", ({ view, offered }) => {
      const base: StandbyView = {
        identity: "b",
        holder: "a",
        wanted,
        offered: undefined,
        providers: better,
        isWarm: true,
        steadyMs: 10_000,
      };
      expect(decideAsStandby({ ...base, ...view })).toEqual(offered);
    });
  });

  describe("an annotation of the Lease", () => {
    test("is read as it was written", () => {
      const wanted: Wanted = { leader: "a", since: "2026-11-21T12:00:00.000Z", lost: ["east"], usable: [] };
      const offered: Offered = { identity: "b", leader: "a" };
      expect(parseWanted(JSON.stringify(wanted))).toEqual(wanted);
      expect(parseOffered(JSON.stringify(offered))).toEqual(offered);
    });

    test.each([undefined, "", "yes", "null", "[]", '{"leader":7}', '{"leader":"a","lost":"east"}'])(
      "counts for nothing when it is %j",
      (text) => {
        expect(parseWanted(text)?.lost ?? []).toEqual([]);
        expect(parseOffered(text)?.identity ?? "").toBe("");
      },
    );
  });
});
