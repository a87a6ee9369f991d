import { describe, expect, test } from "vitest";
import { CREATED_MS, type NodeParts, node, taint } from "../../../test/support/builders.ts";
import { absent, facts, LOST, lost, NOW, present, twice } from "../../../test/support/lifecycle-builders.ts";
import { contractError } from "../../provider/model/errors.ts";
import type { InstanceResult, InstanceState } from "../../provider/model/instance.ts";
import type { GuardInput } from "./guard/guard.ts";
import { type Lookup, type ShutdownTaint, nodePatch, plan, nextLookupInMs } from "./plan.ts";

const SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown";

const look = (result: InstanceResult, parts: Partial<Lookup> = {}): Lookup => ({
  result,
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
    expect(plan({ node: ready, lookup: undefined, tooNewForMs: 0 }, NOW)).toEqual({
      kind: "ready",
      node: ready,
      needsPatch,
    });
  });

  test("is never its deletion, also when it became Ready while the cloud was asked", () => {
    const ready = node("a");
    expect(plan({ node: ready, lookup: look(absent()), tooNewForMs: 0 }, NOW)).toEqual({
      kind: "ready",
      node: ready,
      needsPatch: false,
    });
  });
});

test("plan() of a young Node is to wait", () => {
  expect(plan({ node: lost(), lookup: undefined, tooNewForMs: 1500 }, NOW)).toEqual({
    kind: "tooNew",
    lookupInMs: 1500,
  });
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
    ({ state, reportsShutdown = true, taint: spec, needsPatch }) => {
      const input = { node: lost(), lookup: look(present(state), { reportsShutdown }), tooNewForMs: 0 };
      expect(plan(input, NOW)).toEqual({ kind: "exists", node: lost(), taint: spec, needsPatch });
    },
  );
});

describe("plan() leaves alone", () => {
  test("what is another's", () => {
    const result: InstanceResult = { kind: "notOwned", message: "gce://" };
    expect(plan({ node: lost(), lookup: look(result), tooNewForMs: 0 }, NOW)).toEqual({
      kind: "notOwned",
      node: lost(),
      message: "gce://",
      report: false,
    });
  });

  test("what no one knows anything of", () => {
    const error = contractError("RATE_LIMITED", "429");
    expect(plan({ node: lost(), lookup: look({ kind: "unknown", error }), tooNewForMs: 0 }, NOW)).toEqual({
      kind: "unknown",
      node: lost(),
      error,
      report: false,
    });
  });

  test("what is going already", () => {
    const going = lost({ metadata: { deletionTimestampMs: NOW } });
    expect(plan({ node: going, lookup: look(absent()), tooNewForMs: 0 }, NOW)).toEqual({ kind: "alreadyDeleting" });
  });
});

describe("plan() of an absent machine", () => {
  test("is the deletion when the guard lets it", () => {
    expect(plan({ node: lost(), lookup: look(absent()), tooNewForMs: 0 }, NOW)).toEqual({
      kind: "delete",
      node: lost(),
      provider: "acme",
    });
  });

  test.each<{
    it: string;
    parts: Partial<GuardInput>;
    result?: InstanceResult;
    nowMs?: number;
    reason: string;
    message: string;
    report: boolean;
  }>([
    {
      it: "counting, in silence",
      parts: { absences: { ...twice, count: 1 } },
      reason: "confirming",
      message: "1 of 2 absences, over 30 of 30 s",
      report: false,
    },
    {
      it: "counting for five minutes, in silence",
      parts: { absences: { ...twice, count: 1 } },
      nowMs: LOST + 300_000,
      reason: "confirming",
      message: "1 of 2 absences, over 30 of 30 s",
      report: false,
    },
    {
      it: "counting for more than five minutes, reported immediately",
      parts: { absences: { ...twice, count: 1 } },
      nowMs: LOST + 300_001,
      reason: "confirming",
      message: "1 of 2 absences, over 30 of 30 s",
      report: true,
    },
    {
      it: "an old reading, with the reason",
      parts: { absences: undefined },
      result: absent(LOST),
      reason: "unconfirmed",
      message: "the cloud was read before the Node became not ready",
      report: false,
    },
    {
      it: "an old reading after one that counts, with the count",
      parts: { absences: { ...twice, count: 1 } },
      result: absent(LOST),
      reason: "confirming",
      message: "1 of 2 absences, over 30 of 30 s",
      report: false,
    },
    {
      it: "another process, aloud only later",
      parts: { absences: { ...twice, witness: { ...twice.witness, bootId: "0" } } },
      reason: "unconfirmed",
      message: "no absence counts yet",
      report: false,
    },
    {
      it: "a provider that is not trusted, reported immediately",
      parts: { provider: { ...facts().provider, untrustedReason: "sick" } },
      reason: "providerUntrusted",
      message: "provider acme: sick",
      report: true,
    },
    {
      it: "a provider that failed, reported immediately",
      parts: { provider: { ...facts().provider, failedAtMs: 29_000 } },
      reason: "providerErrors",
      message: "provider acme failed, or contradicted itself, less than 60 s ago",
      report: true,
    },
    {
      it: "too many go, reported immediately",
      parts: { circuitBreaker: { gone: 11, nodes: 100, isUnknown: false, maxPercent: 10, exempt: false } },
      reason: "tooManyNodeDeletions",
      message:
        "provider acme reports the instances of 11 of 100 Nodes as absent, and at most 10 are deleted within 10 minutes",
      report: true,
    },
  ])("is delayed while $it", ({ parts, result = absent(), nowMs = NOW, reason, message, report }) => {
    const planned = plan({ node: lost(), lookup: look(result, { facts: facts(parts) }), tooNewForMs: 0 }, nowMs);
    expect(planned).toMatchObject({ kind: "delayed", delay: { reason, message }, report });
  });

  test.each([
    { it: "a reading that would count", observeTimeMs: NOW },
    { it: "one that would not", observeTimeMs: LOST },
  ])("is delayed while no one owns the Node, with $it", ({ observeTimeMs }) => {
    const planned = plan(
      { node: lost(), lookup: look(absent(observeTimeMs), { facts: undefined }), tooNewForMs: 0 },
      NOW,
    );
    const message = "no provider owns the Node";
    expect(planned).toEqual({
      kind: "delayed",
      node: lost(),
      delay: { kind: "delayed", reason: "unconfirmed", message, endsInMs: undefined },
      report: false,
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

  test.each<{ it: string; parts: NodeParts; spec: ShutdownTaint; want: object | undefined }>([
    {
      it: "adds the taint to others",
      parts: { spec: { taints: [own] }, status: NOT_READY },
      spec: "on",
      want: { metadata, spec: { taints: [ownJson, SHUTDOWN] } },
    },
    {
      it: "leaves a taint that is there",
      parts: { spec: { taints: [taint(KEY)] }, status: NOT_READY },
      spec: "on",
      want: undefined,
    },
    {
      it: "adds the taint beside one of another effect",
      parts: { spec: { taints: [taint(KEY, "NoExecute")] }, status: NOT_READY },
      spec: "on",
      want: { metadata, spec: { taints: [{ key: KEY, effect: "NoExecute" }, SHUTDOWN] } },
    },
    {
      it: "takes off only that taint",
      parts: { spec: { taints: [taint(KEY), own] }, status: NOT_READY },
      spec: "off",
      want: { metadata, spec: { taints: [ownJson] } },
    },
    {
      it: "takes off the last taint",
      parts: { spec: { taints: [taint(KEY)] }, status: NOT_READY },
      spec: "off",
      want: { metadata, spec: { taints: null } },
    },
    {
      it: "leaves a Node without the taint",
      parts: { spec: { taints: [own] }, status: NOT_READY },
      spec: "off",
      want: undefined,
    },
    {
      it: "keeps what is there",
      parts: { spec: { taints: [taint(KEY)] }, status: NOT_READY },
      spec: "keep",
      want: undefined,
    },
    { it: "never marks a Node that is Ready by now", parts: {}, spec: "on", want: undefined },
    {
      it: "unmarks a Node that is Ready by now",
      parts: { spec: { taints: [taint(KEY)] } },
      spec: "on",
      want: { metadata, spec: { taints: null } },
    },
    {
      it: "takes back a release",
      parts: { metadata: { annotations: { [APPROVAL]: "true", other: "x" } }, status: NOT_READY },
      spec: "keep",
      want: { metadata: { ...metadata, annotations: { [APPROVAL]: null } } },
    },
    {
      it: "takes back a release and the taint at once",
      parts: { metadata: { annotations: { [APPROVAL]: "no" } }, spec: { taints: [taint(KEY)] }, status: NOT_READY },
      spec: "off",
      want: { metadata: { ...metadata, annotations: { [APPROVAL]: null } }, spec: { taints: null } },
    },
  ])("nodePatch() $it", ({ parts, spec, want }) => {
    expect(nodePatch(node("a", parts), spec)).toStrictEqual(want);
  });
});

describe("pace", () => {
  test.each([
    { it: "a period after the first look", unchangedLookups: 1, period: 5000, max: 30_000, at: 10_000, want: 5000 },
    { it: "twice that after the second", unchangedLookups: 2, period: 5000, max: 30_000, at: 10_000, want: 10_000 },
    { it: "four times after the third", unchangedLookups: 3, period: 5000, max: 30_000, at: 10_000, want: 20_000 },
    { it: "never later than the bound", unchangedLookups: 4, period: 5000, max: 30_000, at: 10_000, want: 30_000 },
    {
      it: "never later after very many",
      unchangedLookups: 100_000,
      period: 5000,
      max: 30_000,
      at: 10_000,
      want: 30_000,
    },
    {
      it: "at the tick that a late timer missed",
      unchangedLookups: 1,
      period: 5000,
      max: 30_000,
      at: 10_003,
      want: 4997,
    },
    {
      it: "at the nearest tick after a change in between",
      unchangedLookups: 1,
      period: 5000,
      max: 30_000,
      at: 12_400,
      want: 2600,
    },
    { it: "never sooner than half a period", unchangedLookups: 1, period: 5000, max: 30_000, at: 12_499, want: 2501 },
    {
      it: "a period later when the bound is shorter than that",
      unchangedLookups: 9,
      period: 5000,
      max: 1000,
      at: 0,
      want: 5000,
    },
  ])("nextLookupInMs() is $it", ({ unchangedLookups, period, max, at, want }) => {
    expect(nextLookupInMs(unchangedLookups, { periodMs: period, maxMs: max }, at)).toBe(want);
  });
});
