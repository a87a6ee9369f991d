import { describe, expect, test } from "vitest";
import { CREATED_MS, type NodeParts, node, taint } from "../../../test/support/builders.ts";
import { absent, facts, LOST, lost, NOW, present, twice } from "../../../test/support/lifecycle-builders.ts";
import { contractError } from "../../provider/model/errors.ts";
import type { InstanceResult, InstanceState } from "../../provider/model/instance.ts";
import type { GuardInput } from "./guard/guard.ts";
import { type Look, type ShutdownTaint, nodePatch, plan, nextPollInMs } from "./plan.ts";

const SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown";

const look = (answer: InstanceResult, parts: Partial<Look> = {}): Look => ({
  answer,
  facts: facts(),
  reportsShutdown: true,
  ...parts,
});

describe("plan() of a Ready node", () => {
  test.each([
    { it: "nothing", parts: {}, needsPatch: false },
    { it: "the taint's end", parts: { spec: { taints: [taint(SHUTDOWN)] } }, needsPatch: true },
    {
      it: "the release's end",
      parts: { metadata: { annotations: { "cloudwire.dev/approve-deletion": "true" } } },
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
  expect(plan({ node: lost(), look: undefined, youngForMs: 1500 }, NOW)).toEqual({ kind: "tooNew", lookInMs: 1500 });
});

describe("plan() of a machine that exists", () => {
  test.each<{ state: InstanceState; reportsShutdown?: boolean; taint: string; needsPatch: boolean }>([
    { state: "stopped", taint: "on", needsPatch: true },
    { state: "stopped", reportsShutdown: false, taint: "keep", needsPatch: false },
    { state: "running", taint: "off", needsPatch: false },
    { state: "pending", taint: "keep", needsPatch: false },
    { state: "stopping", taint: "keep", needsPatch: false },
    { state: "terminating", taint: "keep", needsPatch: false },
    { state: "unknown", taint: "keep", needsPatch: false },
  ])(
    "has the taint $taint when it is $state (reported: $tellsShutdown)",
    ({ state, reportsShutdown = true, taint: wish, needsPatch }) => {
      const input = { node: lost(), look: look(present(state), { reportsShutdown }), youngForMs: 0 };
      expect(plan(input, NOW)).toEqual({ kind: "exists", node: lost(), taint: wish, needsPatch });
    },
  );
});

describe("plan() leaves alone", () => {
  test("what is another's", () => {
    const answer: InstanceResult = { kind: "notOwned", message: "gce://" };
    expect(plan({ node: lost(), look: look(answer), youngForMs: 0 }, NOW)).toEqual({
      kind: "notOwned",
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
    expect(plan({ node: going, look: look(absent()), youngForMs: 0 }, NOW)).toEqual({ kind: "alreadyDeleting" });
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
    parts: Partial<GuardInput>;
    answer?: InstanceResult;
    nowMs?: number;
    reason: string;
    message: string;
    tell: boolean;
  }>([
    {
      it: "counting, in silence",
      parts: { absences: { ...twice, count: 1 } },
      reason: "confirming",
      message: "1 of 2 absences, over 30 of 30 s",
      tell: false,
    },
    {
      it: "counting for five minutes, in silence",
      parts: { absences: { ...twice, count: 1 } },
      nowMs: LOST + 300_000,
      reason: "confirming",
      message: "1 of 2 absences, over 30 of 30 s",
      tell: false,
    },
    {
      it: "counting for more than five minutes, aloud",
      parts: { absences: { ...twice, count: 1 } },
      nowMs: LOST + 300_001,
      reason: "confirming",
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
      reason: "confirming",
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
      it: "a provider that is not trusted, reported immediately",
      parts: { provider: { ...facts().provider, untrustedReason: "sick" } },
      reason: "providerUntrusted",
      message: "provider acme: sick",
      tell: true,
    },
    {
      it: "a provider that failed, aloud",
      parts: { provider: { ...facts().provider, failedAtMs: 29_000 } },
      reason: "providerErrors",
      message: "provider acme failed, or contradicted itself, less than 60 s ago",
      tell: true,
    },
    {
      it: "too many go, aloud",
      parts: { brake: { gone: 11, nodes: 100, isUnknown: false, maxPercent: 10, exempt: false } },
      reason: "tooManyNodeDeletions",
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
      hold: { kind: "hold", reason: "unconfirmed", message, endsInMs: undefined },
      tell: false,
    });
  });
});

describe("node patch", () => {
  const KEY = "node.cloudprovider.kubernetes.io/shutdown";
  const APPROVAL = "cloudwire.dev/approve-deletion";
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
      parts: { metadata: { annotations: { [APPROVAL]: "true", other: "x" } }, status: NOT_READY },
      wish: "keep",
      want: { metadata: { ...metadata, annotations: { [APPROVAL]: null } } },
    },
    {
      it: "takes back a release and the taint at once",
      parts: { metadata: { annotations: { [APPROVAL]: "no" } }, spec: { taints: [taint(KEY)] }, status: NOT_READY },
      wish: "off",
      want: { metadata: { ...metadata, annotations: { [APPROVAL]: null } }, spec: { taints: null } },
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
  ])("nextPollInMs() is $it", ({ looks, period, max, at, want }) => {
    expect(nextPollInMs(looks, { periodMs: period, maxMs: max }, at)).toBe(want);
  });
});
