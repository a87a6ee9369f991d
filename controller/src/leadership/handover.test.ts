import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { Metrics } from "../telemetry/metrics.ts";
import {
  type LeaderView,
  type HandoverCandidate,
  type ProviderUse,
  type StandbyView,
  HandoverAnnotation,
  type HandoverRequest,
  decideAsLeader,
  decideAsStandby,
  parseCandidate,
  parseRequest,
  handoverMetrics,
} from "./handover.ts";

const REQUESTED = "handover.cloudwire.dev/requested";
const CANDIDATE = "handover.cloudwire.dev/candidate";
const TIMEOUT_MS = 60_000;
const DEFER_MS = 4400;
const NOTHING = { [REQUESTED]: undefined, [CANDIDATE]: undefined };
const METRIC = "cloudwire_leader_handover_requested";

let clock: FakeClock;
let metrics: Metrics;
let reports: string[];
/** Why each provider is unusable. */
let failures: Map<string, string>;
/** Wall-clock time of the last status; undefined: now. */
let statusAtMs: number | undefined;
beforeEach(() => {
  clock = new FakeClock();
  metrics = new Metrics();
  reports = [];
  failures = new Map();
  statusAtMs = undefined;
});

function annotationOf(identity: string, change: { readonly timeoutMs?: number; readonly isWarm?: () => boolean } = {}) {
  return new HandoverAnnotation({
    identity,
    providers: ["east", "west"].map((name) => ({
      name,
      get untrustedReason() {
        return failures.get(name);
      },
      get status() {
        return { receivedAtMs: statusAtMs ?? clock.nowMs() };
      },
      askStatus: () => void reports.push(`status of ${name}`),
    })),
    timeoutMs: TIMEOUT_MS,
    deferMs: DEFER_MS,
    isWarm: () => true,
    clock,
    log: new FakeLog(),
    metrics: handoverMetrics(metrics),
    onRequest: (message) => reports.push(`requests: ${message}`),
    onHandover: (message) => reports.push(`ends: ${message}`),
    ...change,
  });
}

const candidacy = (identity: string, leader: string) => ({ [CANDIDATE]: JSON.stringify({ identity, leader }) });

describe("HandoverAnnotation of a leader", () => {
  test("removes the annotations of an earlier leader and requests nothing while all providers are usable", () => {
    const annotation = annotationOf("a");
    expect(annotation.write()).toEqual(NOTHING);
    annotation.read({}, "a");
    expect(annotation.write()).toEqual(NOTHING);
    expect(reports).toEqual([]);
  });

  test("requests a handover after the timeout, reports it once, and withdraws it when the provider is usable", async () => {
    const annotation = annotationOf("a");
    annotation.read({}, "a");
    failures.set("east", "the provider closed the connection");
    annotation.write();
    await clock.advance(TIMEOUT_MS);
    const requested =
      '{"leader":"a","time":"2026-11-21T12:00:00.000Z","unavailableProviders":["east"],"availableProviders":["west"]}';
    expect([annotation.write(), annotation.write()]).toEqual([
      { [REQUESTED]: requested, [CANDIDATE]: undefined },
      { [REQUESTED]: requested, [CANDIDATE]: undefined },
    ]);
    expect(reports).toEqual([
      "requests: cannot use provider east (the provider closed the connection) since 2026-11-21T12:00:00.000Z; requests a handover to a replica that can",
    ]);
    expect(await metrics.value(METRIC, {})).toBe(1);
    failures.clear();
    expect(annotation.write()).toEqual(NOTHING);
    expect(await metrics.value(METRIC, {})).toBe(0);
  });

  test("ends once for a candidate and keeps its name on the Lease", async () => {
    const annotation = annotationOf("a");
    failures.set("east", "gone");
    annotation.read({}, "a");
    await clock.advance(TIMEOUT_MS);
    annotation.write();
    annotation.read(candidacy("b", "a"), "a");
    annotation.read(candidacy("b", "a"), "a");
    expect(reports.filter((line) => line.startsWith("ends"))).toEqual([
      "ends: hands over leadership to b, which can use east",
    ]);
    expect(annotation.write()).toEqual({});
  });
});

describe("HandoverAnnotation of a standby", () => {
  const requested = {
    [REQUESTED]: JSON.stringify({
      leader: "a",
      time: "2026-11-21T12:00:00.000Z",
      unavailableProviders: ["east"],
      availableProviders: ["west"],
    }),
  };

  test("becomes candidate when it can use more providers, unless another replica is candidate", async () => {
    const annotation = annotationOf("b");
    annotation.read(requested, "a");
    expect(annotation.propose()).toEqual({});
    await clock.advance(10_000);
    expect(annotation.propose()).toEqual(candidacy("b", "a"));
    annotation.read({ ...requested, ...candidacy("c", "a") }, "a");
    expect(annotation.propose()).toEqual({});
  });

  test("ignores provider statuses from before the request, and requests new ones once", async () => {
    const annotation = annotationOf("b");
    annotation.read({}, "a");
    await clock.advance(60_000);
    statusAtMs = clock.nowMs() - 1;
    annotation.read(requested, "a");
    annotation.read(requested, "a");
    expect([annotation.propose(), reports]).toEqual([{}, ["status of east", "status of west"]]);
    statusAtMs = clock.nowMs() + 100;
    await clock.advance(2000);
    annotation.read(requested, "a");
    expect(annotation.propose()).toEqual(candidacy("b", "a"));
    expect(reports).toHaveLength(2);
  });

  test("leaves a free Lease to others while a provider is unusable or another replica is candidate", () => {
    const annotation = annotationOf("b");
    expect(annotation.deferMs()).toBe(0);
    failures.set("west", "gone");
    expect(annotation.deferMs()).toBe(DEFER_MS);
    failures.clear();
    annotation.read(candidacy("c", "a"), "");
    expect(annotation.deferMs()).toBe(DEFER_MS);
    annotation.read(candidacy("b", "a"), "");
    expect(annotation.deferMs()).toBe(0);
  });

  test("does not wait because of a provider that the last leader could not use either", () => {
    const annotation = annotationOf("b");
    failures.set("east", "gone");
    annotation.read(requested, "");
    expect(annotation.deferMs()).toBe(0);
    failures.set("west", "gone");
    expect(annotation.deferMs()).toBe(DEFER_MS);
  });

  test("does not wait with timeout 0", () => {
    const annotation = annotationOf("b", { timeoutMs: 0 });
    failures.set("west", "gone");
    annotation.read(candidacy("c", "a"), "");
    expect(annotation.deferMs()).toBe(0);
  });
});

describe("handover", () => {
  const START_MS = Date.UTC(2026, 10, 21, 12, 0, 0);

  const usable = (name: string, forMs = 3_600_000): ProviderUse => ({ name, isUsable: true, forMs, sinceMs: START_MS });
  const lost = (name: string, forMs: number): ProviderUse => ({
    name,
    isUsable: false,
    forMs,
    sinceMs: START_MS - forMs,
  });

  describe("decideAsLeader()", () => {
    const request = (change: Partial<HandoverRequest> = {}): HandoverRequest => ({
      leader: "a",
      time: "2026-11-21T11:59:00.000Z",
      unavailableProviders: ["east"],
      availableProviders: [],
      ...change,
    });
    test.each<{ sentence: string; view: Partial<LeaderView>; decision: ReturnType<typeof decideAsLeader> }>([
      {
        sentence: "stays while all its providers are usable",
        view: { providers: [usable("east"), usable("west")] },
        decision: { kind: "stay" },
      },
      {
        sentence: "stays while a provider is unusable for less than the timeout",
        view: { providers: [lost("east", 59_999)] },
        decision: { kind: "stay" },
      },
      {
        sentence: "requests a handover once a provider is unusable for the timeout",
        view: { providers: [lost("east", 60_000)] },
        decision: { kind: "request", request: request() },
      },
      {
        sentence: "lists usable providers, without one that it has just lost",
        view: { providers: [lost("east", 60_000), usable("west"), lost("north", 5000)] },
        decision: { kind: "request", request: request({ availableProviders: ["west"] }) },
      },
      {
        sentence: "reports the earliest failure of several",
        view: { providers: [lost("east", 60_000), lost("west", 120_000)] },
        decision: {
          kind: "request",
          request: request({ unavailableProviders: ["east", "west"], time: "2026-11-21T11:58:00.000Z" }),
        },
      },
      {
        sentence: "hands over to a candidate",
        view: { providers: [lost("east", 60_000)], candidate: { identity: "b", leader: "a" } },
        decision: { kind: "handover", request: request(), candidate: "b" },
      },
      {
        sentence: "does not hand over to a candidate of an earlier leader",
        view: { providers: [lost("east", 60_000)], candidate: { identity: "b", leader: "z" } },
        decision: { kind: "request", request: request() },
      },
      {
        sentence: "stays despite a candidate once its provider is usable again",
        view: { providers: [usable("east", 0)], candidate: { identity: "b", leader: "a" } },
        decision: { kind: "stay" },
      },
      {
        sentence: "never requests a handover with timeout 0",
        view: { providers: [lost("east", 3_600_000)], candidate: { identity: "b", leader: "a" }, timeoutMs: 0 },
        decision: { kind: "stay" },
      },
    ])("$sentence", ({ view, decision }) => {
      const base: LeaderView = { identity: "a", providers: [], candidate: undefined, timeoutMs: 60_000 };
      expect(decideAsLeader({ ...base, ...view })).toEqual(decision);
    });
  });

  describe("decideAsStandby()", () => {
    const request: HandoverRequest = {
      leader: "a",
      time: "2026-11-21T11:59:00.000Z",
      unavailableProviders: ["east", "west"],
      availableProviders: ["north"],
    };
    const candidacy: HandoverCandidate = { identity: "b", leader: "a" };
    const better = [usable("east"), usable("north"), lost("west", 1000)];
    test.each<{ sentence: string; view: Partial<StandbyView>; candidate: HandoverCandidate | undefined }>([
      {
        sentence: "becomes candidate when it can use the providers of the leader and one that the leader lost",
        view: {},
        candidate: candidacy,
      },
      { sentence: "is no candidate without a request", view: { request: undefined }, candidate: undefined },
      {
        sentence: "is no candidate for a process that is no longer the leader",
        view: { holderIdentity: "c" },
        candidate: undefined,
      },
      { sentence: "is no candidate for a free Lease", view: { holderIdentity: "" }, candidate: undefined },
      {
        sentence: "is no candidate when another replica is",
        view: { candidate: { identity: "c", leader: "a" } },
        candidate: undefined,
      },
      {
        sentence: "becomes candidate despite a candidate of an earlier leader",
        view: { candidate: { identity: "c", leader: "z" } },
        candidate: candidacy,
      },
      {
        sentence: "is no candidate when it cannot use a provider of the leader",
        view: { providers: [usable("east"), usable("west"), lost("north", 0)] },
        candidate: undefined,
      },
      {
        sentence: "is no candidate when it can use only the providers of the leader",
        view: { providers: [lost("east", 0), lost("west", 0), usable("north")] },
        candidate: undefined,
      },
      {
        sentence: "is no candidate when it does not know the provider",
        view: { providers: [usable("north"), usable("south")] },
        candidate: undefined,
      },
      {
        sentence: "is no candidate until its provider has been usable for 10 s",
        view: { providers: [usable("east", 9999), usable("north")] },
        candidate: undefined,
      },
      { sentence: "is no candidate until its caches are synced", view: { isWarm: false }, candidate: undefined },
    ])("$sentence", ({ view, candidate }) => {
      const base: StandbyView = {
        identity: "b",
        holderIdentity: "a",
        request,
        candidate: undefined,
        providers: better,
        isWarm: true,
        steadyMs: 10_000,
      };
      expect(decideAsStandby({ ...base, ...view })).toEqual(candidate);
    });
  });

  describe("an annotation of the Lease", () => {
    test("is parsed as written", () => {
      const request: HandoverRequest = {
        leader: "a",
        time: "2026-11-21T12:00:00.000Z",
        unavailableProviders: ["east"],
        availableProviders: [],
      };
      const candidate: HandoverCandidate = { identity: "b", leader: "a" };
      expect(parseRequest(JSON.stringify(request))).toEqual(request);
      expect(parseCandidate(JSON.stringify(candidate))).toEqual(candidate);
    });

    test.each([undefined, "", "yes", "null", "[]", '{"leader":7}', '{"leader":"a","unavailableProviders":"east"}'])(
      "is ignored when it is %j",
      (text) => {
        expect(parseRequest(text)?.unavailableProviders ?? []).toEqual([]);
        expect(parseCandidate(text)?.identity ?? "").toBe("");
      },
    );
  });
});
