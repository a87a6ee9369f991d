import { describe, expect, test } from "vitest";
import { instance, node } from "../../../test/support/builders.ts";
import { contractError } from "../../provider/model/errors.ts";
import type { InstanceResult } from "../../provider/model/instance.ts";
import { changesNeed, needsCidrs, plan, planCloud } from "./plan.ts";

const GOING = { metadata: { deletionTimestampMs: 1 } };
const RANGES = ["10.0.1.0/24", "fd00:0:0:1::/64"];

describe("plan()", () => {
  test.each([
    { sentence: "leaves a Node with ranges", parts: { spec: { podCIDRs: ["10.0.0.0/24"] } }, allocation: undefined },
    { sentence: "leaves a Node that is going", parts: GOING, allocation: undefined },
    {
      sentence: "leaves a Node that is going, whatever is set aside",
      parts: GOING,
      allocation: { cidrs: RANGES, isWritten: false },
    },
    {
      sentence: "leaves a Node that got its cidrs, before the cache shows it",
      parts: {},
      allocation: { cidrs: RANGES, isWritten: true },
    },
  ])("$sentence", ({ parts, allocation }) => {
    expect(plan({ node: node("a", parts), allocation })).toEqual({ kind: "leave" });
  });

  test("writes what is set aside again", () => {
    const a = node("a");
    expect(plan({ node: a, allocation: { cidrs: RANGES, isWritten: false } })).toEqual({
      kind: "assign",
      node: a,
      cidrs: RANGES,
    });
  });

  test("wants ranges for a Node that has none", () => {
    const a = node("a");
    expect(plan({ node: a, allocation: undefined })).toEqual({ kind: "allocate", node: a });
  });
});

const witness = { provider: "acme", scopeId: "project-1", bootId: "boot-1", receivedAtMs: 1 };

function present(podCidrs: readonly string[] | undefined): InstanceResult {
  return { kind: "present", instance: instance({ podCidrs }), readTimeMs: 1, witness };
}

describe("planCloud()", () => {
  const a = node("a");

  test("leaves a Node that no one was asked about", () => {
    expect(planCloud({ node: a, result: undefined })).toEqual({
      kind: "leave",
      message: "it has its CIDRs or is being deleted",
    });
  });

  const throttled = contractError("RATE_LIMITED", "429", { retryAfterMs: 1000 });

  test.each([
    {
      sentence: "takes what the cloud says, spelled as Kubernetes does",
      reported: ["10.8.1.7/24", "FD00:0:0:1::/64"],
      wanted: { kind: "assign", node: a, cidrs: ["10.8.1.0/24", "fd00:0:0:1::/64"], unused: [] },
    },
    {
      sentence: "keeps the cloud's order of families",
      reported: ["fd00::/64", "10.8.1.0/24"],
      wanted: { kind: "assign", node: a, cidrs: ["fd00::/64", "10.8.1.0/24"], unused: [] },
    },
    {
      sentence: "takes the first of each family",
      reported: ["10.8.1.0/24", "10.8.2.0/24", "fd00::/64"],
      wanted: { kind: "assign", node: a, cidrs: ["10.8.1.0/24", "fd00::/64"], unused: ["10.8.2.0/24"] },
    },
    {
      sentence: "says that the cloud has none yet",
      reported: [],
      wanted: { kind: "unavailable", node: a, message: "the cloud has not allocated a pod CIDR yet" },
    },
    {
      sentence: "reports that the provider does not support it",
      reported: undefined,
      wanted: { kind: "unavailable", node: a, message: expect.stringContaining("capability pod_cidrs") },
    },
    {
      sentence: "takes nothing when one is no range",
      reported: ["10.8.1.0/24", "10.8.1/24"],
      wanted: { kind: "unavailable", node: a, message: '"10.8.1/24" from the cloud is not a valid CIDR' },
    },
  ])("$sentence", ({ reported, wanted }) => {
    expect(planCloud({ node: a, result: present(reported) })).toEqual(wanted);
  });

  test.each([
    {
      sentence: "a machine that does not exist",
      result: { kind: "absent", basis: "lookupMiss", observeTimeMs: 1, strong: true, witness } as const,
      wanted: { kind: "retry", message: "its instance does not exist", error: undefined },
    },
    {
      sentence: "an result that is none",
      result: { kind: "unknown", error: throttled } as const,
      wanted: { kind: "retry", message: "429", error: throttled },
    },
    {
      sentence: "another's machine",
      result: { kind: "notOwned", message: "another's" } as const,
      wanted: { kind: "leave", message: "another's" },
    },
  ])("gives nothing for $sentence", ({ result, wanted }) => {
    expect(planCloud({ node: a, result })).toEqual(wanted);
  });

  test.each([
    { sentence: "has ranges", parts: { spec: { podCIDRs: ["10.0.0.0/24"] } } },
    { sentence: "is going", parts: GOING },
  ])("leaves a Node that $sentence", ({ parts }) => {
    expect(planCloud({ node: node("a", parts), result: present(["10.8.1.0/24"]) })).toMatchObject({ kind: "leave" });
  });
});

describe("predicates", () => {
  const RANGED = { spec: { podCIDRs: ["10.0.0.0/24"] } };
  const GOING = { metadata: { deletionTimestampMs: 1 } };

  describe("needsCidrs()", () => {
    test.each([
      { sentence: "a Node without ranges", parts: {}, wanted: true },
      { sentence: "not one with ranges", parts: RANGED, wanted: false },
      { sentence: "not one that is going", parts: GOING, wanted: false },
    ])("is for $sentence", ({ parts, wanted }) => {
      expect(needsCidrs(node("a", parts))).toBe(wanted);
    });
  });

  describe("changesNeed()", () => {
    test.each([
      { sentence: "not a heartbeat", old: {}, now: { metadata: { resourceVersion: "2" } }, wanted: false },
      { sentence: "ranges that came", old: {}, now: RANGED, wanted: true },
      { sentence: "a deletion that began", old: {}, now: GOING, wanted: true },
      {
        sentence: "not another ID of a Node with ranges",
        old: RANGED,
        now: { spec: { ...RANGED.spec, providerID: "acme://1" } },
        wanted: false,
      },
      { sentence: "a provider ID that came", old: {}, now: { spec: { providerID: "acme://1" } }, wanted: true },
      { sentence: "another Node of the same name", old: {}, now: { metadata: { uid: "other" } }, wanted: true },
    ])("is: $sentence", ({ old, now, wanted }) => {
      expect(changesNeed(node("a", old), node("a", now))).toBe(wanted);
    });
  });
});
