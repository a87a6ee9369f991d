import { describe, expect, test } from "vitest";
import { CREATED_MS, type NodeParts, node, taint } from "../../../test/support/builders.ts";
import { READY } from "../../api/node.ts";
import { contractError } from "../../provider/model/errors.ts";
import type { InstanceAnswer, InstanceState } from "../../provider/model/instance.ts";
import type { Absences } from "./guard/absences.ts";
import type { Case } from "./guard/guard.ts";
import type { NodeRecord } from "./node-history.ts";
import { type Answered, type Look, type ShutdownTaint, fold, nodePatch, plan, untilNextLookMs } from "./plan.ts";
import { subjectOf } from "./predicates.ts";

const NOW = CREATED_MS + 3_600_000;
const LOST = NOW - 120_000;
const SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown";
const witness = { provider: "acme", scopeId: "project-1", bootId: "boot-1", receivedAtMs: NOW };
const conditions = [{ type: READY, status: "Unknown", lastTransitionTimeMs: LOST, reason: "" }];
const lost = (parts: NodeParts = {}) => node("a", { status: { conditions }, ...parts });

const absent = (observeTimeMs = NOW): InstanceAnswer => ({
  kind: "absent",
  basis: "lookupMiss",
  observeTimeMs,
  strong: true,
  witness,
});

const present = (state: InstanceState): InstanceAnswer => ({
  kind: "present",
  readTimeMs: NOW,
  witness,
  instance: {
    providerId: "acme://a",
    name: "a",
    instanceType: undefined,
    zone: undefined,
    region: undefined,
    addresses: [],
    state,
    stateReason: "",
    labels: {},
    podCidrs: undefined,
    createTimeMs: undefined,
    revision: "",
    warnings: [],
  },
});

const twice: Absences = {
  witness: { provider: "acme", scopeId: "project-1", bootId: "boot-1" },
  count: 2,
  first: { observeTimeMs: NOW - 30_000, heardAtMs: 0 },
  last: { observeTimeMs: NOW, heardAtMs: 30_000 },
  conclusive: false,
};

const facts = (parts: Partial<Case> = {}): Case => ({
  absences: twice,
  standing: {
    name: "acme",
    scopeId: "project-1",
    bootId: "boot-1",
    doubt: undefined,
    existenceConsistencyDelayMs: 0,
    failedAtMs: undefined,
    contradictedAtMs: undefined,
  },
  brake: { gone: 1, nodes: 100, isUnknown: false, maxPercent: 10, exempt: false },
  rules: { confirmations: 2, spanMs: 30_000, minAgeMs: 60_000, settleMs: 5000, freezeMs: 60_000 },
  createdMs: CREATED_MS,
  nowMs: NOW,
  monotonicMs: 30_000,
  ...parts,
});

const look = (answer: InstanceAnswer, parts: Partial<Look> = {}): Look => ({
  answer,
  facts: facts(),
  tellsShutdown: true,
  ...parts,
});

describe("fold()", () => {
  const gone = lost();
  const known = (parts: Partial<NodeRecord> = {}): NodeRecord => ({
    subject: subjectOf(gone),
    provider: "acme",
    absences: twice,
    isGone: true,
    picture: "",
    looks: 3,
    told: undefined,
    ...parts,
  });
  const answered = (answer: InstanceAnswer, parts: Partial<Answered> = {}): Answered => ({
    kind: "answered",
    node: gone,
    answer,
    castsDoubt: false,
    tellsShutdown: true,
    before: undefined,
    facts: facts({ absences: undefined }),
    isCounted: false,
    nowMs: NOW,
    monotonicMs: 40_000,
    ...parts,
  });

  test("of a Node that vanished leaves nothing to decide", () => {
    expect(fold({ kind: "vanished" })).toEqual({ news: { record: { kind: "vanished" } }, input: undefined });
  });

  test.each([
    { it: "whose machine was called absent contradicts the provider", before: known(), contradicted: "acme" },
    { it: "of which nothing is known contradicts nobody", before: undefined, contradicted: undefined },
  ])("of a Ready Node $it", ({ before, contradicted }) => {
    const ready = node("a");
    expect(fold({ kind: "ready", node: ready, before })).toEqual({
      news: { record: { kind: "forgotten" }, contradicted },
      input: { node: ready, look: undefined, youngForMs: 0 },
    });
  });

  test("of a young Node keeps what is known", () => {
    const { news, input } = fold({ kind: "young", node: gone, youngForMs: 7 });
    expect([news, input?.youngForMs]).toEqual([{ record: { kind: "kept" } }, 7]);
  });

  test.each([
    { it: "an absence counts the Node", answer: absent(), parts: {}, gone: 2 },
    {
      it: "an absence of a Node that counts already counts it once",
      answer: absent(),
      parts: { isCounted: true },
      gone: 1,
    },
    {
      it: "a machine that is there takes the Node off",
      answer: present("running"),
      parts: { isCounted: true },
      gone: 0,
    },
  ])("of $it for the brake", ({ answer, parts, gone: expected }) => {
    expect(fold(answered(answer, parts)).input?.look?.facts?.brake.gone).toBe(expected);
  });

  test("of a machine that is there after all counts against its provider from this moment on", () => {
    const { news, input } = fold(answered(present("running"), { before: known() }));
    expect(news).toMatchObject({ contradicted: "acme", record: { kind: "put", record: { absences: undefined } } });
    expect(input?.look?.facts?.standing).toMatchObject({ failedAtMs: 40_000, contradictedAtMs: 40_000 });
  });

  test("of an answer that casts doubt is a failure of the provider that owns the Node, if one does", () => {
    const failed: InstanceAnswer = { kind: "unknown", error: contractError("CLOUD_UNAVAILABLE", "gone") };
    const { news, input } = fold(answered(failed, { castsDoubt: true }));
    expect([news.failed, input?.look?.facts?.standing.failedAtMs]).toEqual(["acme", 40_000]);
    expect(fold(answered(failed, { castsDoubt: true, facts: undefined })).news.failed).toBeUndefined();
  });

  test("counts looks that show the same", () => {
    const first = fold(answered(absent()));
    const { record } = first.news;
    const before = record.kind === "put" ? record.record : undefined;
    const again = fold(answered(absent(), { before }));
    expect([before?.looks, again.news.record]).toMatchObject([1, { kind: "put", record: { looks: 2 } }]);
  });
});

describe("plan() of a Ready node", () => {
  test.each([
    { it: "nothing", parts: {}, needsPatch: false },
    { it: "the taint's end", parts: { spec: { taints: [taint(SHUTDOWN)] } }, needsPatch: true },
    {
      it: "the release's end",
      parts: { metadata: { annotations: { "cloudwire.dev/release-deletion": "true" } } },
      needsPatch: true,
    },
  ])("is $it", ({ parts, needsPatch }) => {
    const ready = node("a", parts);
    expect(plan({ node: ready, look: undefined, youngForMs: 0 }, NOW)).toEqual({
      kind: "ready",
      node: ready,
      needsPatch,
    });
  });

  test("is never its deletion, also when it became Ready while the cloud was asked", () => {
    const ready = node("a");
    expect(plan({ node: ready, look: look(absent()), youngForMs: 0 }, NOW)).toEqual({
      kind: "ready",
      node: ready,
      needsPatch: false,
    });
  });
});

test("plan() of a young Node is to wait", () => {
  expect(plan({ node: lost(), look: undefined, youngForMs: 1500 }, NOW)).toEqual({ kind: "young", lookInMs: 1500 });
});

describe("plan() of a machine that exists", () => {
  test.each<{ state: InstanceState; tellsShutdown?: boolean; taint: string; needsPatch: boolean }>([
    { state: "stopped", taint: "on", needsPatch: true },
    { state: "stopped", tellsShutdown: false, taint: "keep", needsPatch: false },
    { state: "running", taint: "off", needsPatch: false },
    { state: "pending", taint: "keep", needsPatch: false },
    { state: "stopping", taint: "keep", needsPatch: false },
    { state: "terminating", taint: "keep", needsPatch: false },
    { state: "unknown", taint: "keep", needsPatch: false },
  ])(
    "has the taint $taint when it is $state (told: $tellsShutdown)",
    ({ state, tellsShutdown = true, taint: wish, needsPatch }) => {
      const input = { node: lost(), look: look(present(state), { tellsShutdown }), youngForMs: 0 };
      expect(plan(input, NOW)).toEqual({ kind: "exists", node: lost(), taint: wish, needsPatch });
    },
  );
});

describe("plan() leaves alone", () => {
  test("what is another's", () => {
    const answer: InstanceAnswer = { kind: "notMine", message: "gce://" };
    expect(plan({ node: lost(), look: look(answer), youngForMs: 0 }, NOW)).toEqual({
      kind: "leave",
      message: "gce://",
    });
  });

  test("what nobody knows anything of", () => {
    const error = contractError("RATE_LIMITED", "429");
    expect(plan({ node: lost(), look: look({ kind: "unknown", error }), youngForMs: 0 }, NOW)).toEqual({
      kind: "unknown",
      error,
    });
  });

  test("what is going already", () => {
    const going = lost({ metadata: { deletionTimestampMs: NOW } });
    expect(plan({ node: going, look: look(absent()), youngForMs: 0 }, NOW)).toEqual({ kind: "going" });
  });
});

describe("plan() of an absent machine", () => {
  test("is the deletion when the guard lets it", () => {
    expect(plan({ node: lost(), look: look(absent()), youngForMs: 0 }, NOW)).toEqual({
      kind: "delete",
      node: lost(),
      provider: "acme",
    });
  });

  test.each<{
    it: string;
    parts: Partial<Case>;
    answer?: InstanceAnswer;
    nowMs?: number;
    reason: string;
    message: string;
    tell: boolean;
  }>([
    {
      it: "counting, in silence",
      parts: { absences: { ...twice, count: 1 } },
      reason: "counting",
      message: "1 of 2 absences, over 30 of 30 s",
      tell: false,
    },
    {
      it: "counting for five minutes, in silence",
      parts: { absences: { ...twice, count: 1 } },
      nowMs: LOST + 300_000,
      reason: "counting",
      message: "1 of 2 absences, over 30 of 30 s",
      tell: false,
    },
    {
      it: "counting for more than five minutes, aloud",
      parts: { absences: { ...twice, count: 1 } },
      nowMs: LOST + 300_001,
      reason: "counting",
      message: "1 of 2 absences, over 30 of 30 s",
      tell: true,
    },
    {
      it: "an old reading, with the reason",
      parts: { absences: undefined },
      answer: absent(LOST),
      reason: "unconfirmed",
      message: "the cloud was read before the Node became not ready",
      tell: false,
    },
    {
      it: "an old reading after one that counts, with the count",
      parts: { absences: { ...twice, count: 1 } },
      answer: absent(LOST),
      reason: "counting",
      message: "1 of 2 absences, over 30 of 30 s",
      tell: false,
    },
    {
      it: "another process, aloud only later",
      parts: { absences: { ...twice, witness: { ...twice.witness, bootId: "0" } } },
      reason: "unconfirmed",
      message: "no absence counts yet",
      tell: false,
    },
    {
      it: "a provider in doubt, aloud",
      parts: { standing: { ...facts().standing, doubt: "sick" } },
      reason: "providerDoubted",
      message: "provider acme: sick",
      tell: true,
    },
    {
      it: "a provider that failed, aloud",
      parts: { standing: { ...facts().standing, failedAtMs: 29_000 } },
      reason: "providerFailed",
      message: "provider acme failed, or contradicted itself, less than 60 s ago",
      tell: true,
    },
    {
      it: "too many go, aloud",
      parts: { brake: { gone: 11, nodes: 100, isUnknown: false, maxPercent: 10, exempt: false } },
      reason: "brake",
      message: "provider acme calls the machines of 11 of 100 Nodes absent, and at most 10 go within 10 minutes",
      tell: true,
    },
  ])("is a hold while $it", ({ parts, answer = absent(), nowMs = NOW, reason, message, tell }) => {
    const planned = plan({ node: lost(), look: look(answer, { facts: facts(parts) }), youngForMs: 0 }, nowMs);
    expect(planned).toMatchObject({ kind: "hold", hold: { reason, message }, tell });
  });

  test.each([
    { it: "a reading that would count", observeTimeMs: NOW },
    { it: "one that would not", observeTimeMs: LOST },
  ])("is a hold while nobody owns the Node, with $it", ({ observeTimeMs }) => {
    const planned = plan({ node: lost(), look: look(absent(observeTimeMs), { facts: undefined }), youngForMs: 0 }, NOW);
    const message = "no provider owns the Node at this moment";
    expect(planned).toEqual({
      kind: "hold",
      node: lost(),
      hold: { kind: "hold", reason: "unconfirmed", message, overInMs: undefined },
      tell: false,
    });
  });
});

describe("node patch", () => {
  const KEY = "node.cloudprovider.kubernetes.io/shutdown";
  const RELEASE = "cloudwire.dev/release-deletion";
  const SHUTDOWN = { key: KEY, effect: "NoSchedule" };
  const NOT_READY = { conditions: [] };
  const own = { ...taint("own", "NoExecute", "v"), timeAddedMs: CREATED_MS };
  const ownJson = { key: "own", value: "v", effect: "NoExecute", timeAdded: "2026-11-21T11:00:00Z" };
  const metadata = { uid: "uid-a", resourceVersion: "1" };

  test.each<{ it: string; parts: NodeParts; wish: ShutdownTaint; want: object | undefined }>([
    {
      it: "adds the taint to others",
      parts: { spec: { taints: [own] }, status: NOT_READY },
      wish: "on",
      want: { metadata, spec: { taints: [ownJson, SHUTDOWN] } },
    },
    {
      it: "leaves a taint that is there",
      parts: { spec: { taints: [taint(KEY)] }, status: NOT_READY },
      wish: "on",
      want: undefined,
    },
    {
      it: "adds the taint beside one of another effect",
      parts: { spec: { taints: [taint(KEY, "NoExecute")] }, status: NOT_READY },
      wish: "on",
      want: { metadata, spec: { taints: [{ key: KEY, effect: "NoExecute" }, SHUTDOWN] } },
    },
    {
      it: "takes off only that taint",
      parts: { spec: { taints: [taint(KEY), own] }, status: NOT_READY },
      wish: "off",
      want: { metadata, spec: { taints: [ownJson] } },
    },
    {
      it: "takes off the last taint",
      parts: { spec: { taints: [taint(KEY)] }, status: NOT_READY },
      wish: "off",
      want: { metadata, spec: { taints: null } },
    },
    {
      it: "leaves a Node without the taint",
      parts: { spec: { taints: [own] }, status: NOT_READY },
      wish: "off",
      want: undefined,
    },
    {
      it: "keeps what is there",
      parts: { spec: { taints: [taint(KEY)] }, status: NOT_READY },
      wish: "keep",
      want: undefined,
    },
    { it: "never marks a Node that is Ready by now", parts: {}, wish: "on", want: undefined },
    {
      it: "unmarks a Node that is Ready by now",
      parts: { spec: { taints: [taint(KEY)] } },
      wish: "on",
      want: { metadata, spec: { taints: null } },
    },
    {
      it: "takes back a release",
      parts: { metadata: { annotations: { [RELEASE]: "true", other: "x" } }, status: NOT_READY },
      wish: "keep",
      want: { metadata: { ...metadata, annotations: { [RELEASE]: null } } },
    },
    {
      it: "takes back a release and the taint at once",
      parts: { metadata: { annotations: { [RELEASE]: "no" } }, spec: { taints: [taint(KEY)] }, status: NOT_READY },
      wish: "off",
      want: { metadata: { ...metadata, annotations: { [RELEASE]: null } }, spec: { taints: null } },
    },
  ])("nodePatch() $it", ({ parts, wish, want }) => {
    expect(nodePatch(node("a", parts), wish)).toStrictEqual(want);
  });
});

describe("pace", () => {
  test.each([
    { it: "a period after the first look", looks: 1, period: 5000, max: 30_000, at: 10_000, want: 5000 },
    { it: "twice that after the second", looks: 2, period: 5000, max: 30_000, at: 10_000, want: 10_000 },
    { it: "four times after the third", looks: 3, period: 5000, max: 30_000, at: 10_000, want: 20_000 },
    { it: "never later than the bound", looks: 4, period: 5000, max: 30_000, at: 10_000, want: 30_000 },
    { it: "never later after very many", looks: 100_000, period: 5000, max: 30_000, at: 10_000, want: 30_000 },
    { it: "at the tick that a late timer missed", looks: 1, period: 5000, max: 30_000, at: 10_003, want: 4997 },
    {
      it: "at the nearest tick after a change in between",
      looks: 1,
      period: 5000,
      max: 30_000,
      at: 12_400,
      want: 2600,
    },
    { it: "never sooner than half a period", looks: 1, period: 5000, max: 30_000, at: 12_499, want: 2501 },
    { it: "a period later when the bound is shorter than that", looks: 9, period: 5000, max: 1000, at: 0, want: 5000 },
  ])("untilNextLookMs() is $it", ({ looks, period, max, at, want }) => {
    expect(untilNextLookMs(looks, { periodMs: period, maxMs: max }, at)).toBe(want);
  });
});
