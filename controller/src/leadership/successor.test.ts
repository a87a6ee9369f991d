import { describe, expect, test } from "vitest";
import {
  decideAsLeader,
  decideAsStandby,
  type LeaderView,
  type Offered,
  parseOffered,
  parseWanted,
  type ProviderUse,
  type StandbyView,
  type Wanted,
} from "./successor.ts";

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
  const wanted: Wanted = { leader: "a", since: "2026-11-21T11:59:00.000Z", lost: ["east", "west"], usable: ["north"] };
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
