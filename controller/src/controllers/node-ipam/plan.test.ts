import { describe, expect, test } from "vitest";
import { instance, node } from "../../../test/support/builders.ts";
import { contractError } from "../../provider/model/errors.ts";
import type { InstanceResult } from "../../provider/model/instance.ts";
import { changesNeed, needsRanges, plan, planCloud } from "./plan.ts";

const GOING = { metadata: { deletionTimestampMs: 1 } };
const RANGES = ["10.0.1.0/24", "fd00:0:0:1::/64"];

describe("plan()", () => {
  test.each([
    { sentence: "leaves a Node with ranges", parts: { spec: { podCIDRs: ["10.0.0.0/24"] } }, held: undefined },
    { sentence: "leaves a Node that is going", parts: GOING, held: undefined },
    {
      sentence: "leaves a Node that is going, whatever is set aside",
      parts: GOING,
      held: { ranges: RANGES, isWritten: false },
    },
    {
      sentence: "leaves a Node that got its ranges, before the cache shows it",
      parts: {},
      held: { ranges: RANGES, isWritten: true },
    },
  ])("$sentence", ({ parts, held }) => {
    expect(plan({ node: node("a", parts), held })).toEqual({ kind: "leave" });
  });

  test("writes what is set aside again", () => {
    const a = node("a");
    expect(plan({ node: a, held: { ranges: RANGES, isWritten: false } })).toEqual({
      kind: "assign",
      node: a,
      ranges: RANGES,
    });
  });

  test("wants ranges for a Node that has none", () => {
    const a = node("a");
    expect(plan({ node: a, held: undefined })).toEqual({ kind: "allocate", node: a });
  });
});

const witness = { provider: "acme", scopeId: "project-1", bootId: "boot-1", receivedAtMs: 1 };

function present(podCidrs: readonly string[] | undefined): InstanceResult {
  return { kind: "present", instance: instance({ podCidrs }), readTimeMs: 1, witness };
}

describe("planCloud()", () => {
  const a = node("a");

  test("leaves a Node that nobody was asked about", () => {
    expect(planCloud({ node: a, answer: undefined })).toEqual({ kind: "leave", why: "it has its ranges or is going" });
  });

  const throttled = contractError("RATE_LIMITED", "429", { retryAfterMs: 1000 });

  test.each([
    {
      sentence: "takes what the cloud says, spelled as Kubernetes does",
      told: ["10.8.1.7/24", "FD00:0:0:1::/64"],
      wanted: { kind: "assign", node: a, ranges: ["10.8.1.0/24", "fd00:0:0:1::/64"], left: [] },
    },
    {
      sentence: "keeps the cloud's order of families",
      told: ["fd00::/64", "10.8.1.0/24"],
      wanted: { kind: "assign", node: a, ranges: ["fd00::/64", "10.8.1.0/24"], left: [] },
    },
    {
      sentence: "takes the first of each family",
      told: ["10.8.1.0/24", "10.8.2.0/24", "fd00::/64"],
      wanted: { kind: "assign", node: a, ranges: ["10.8.1.0/24", "fd00::/64"], left: ["10.8.2.0/24"] },
    },
    {
      sentence: "says that the cloud has none yet",
      told: [],
      wanted: { kind: "unavailable", node: a, why: "the cloud has allocated no pod range yet" },
    },
    {
      sentence: "says that the provider does not tell",
      told: undefined,
      wanted: { kind: "unavailable", node: a, why: expect.stringContaining("capability pod_cidrs") },
    },
    {
      sentence: "takes nothing when one is no range",
      told: ["10.8.1.0/24", "10.8.1/24"],
      wanted: { kind: "unavailable", node: a, why: '"10.8.1/24", which the cloud says, is no range' },
    },
  ])("$sentence", ({ told, wanted }) => {
    expect(planCloud({ node: a, answer: present(told) })).toEqual(wanted);
  });

  test.each([
    {
      sentence: "a machine that does not exist",
      answer: { kind: "absent", basis: "lookupMiss", observeTimeMs: 1, strong: true, witness } as const,
      wanted: { kind: "retry", why: "its machine does not exist", error: undefined },
    },
    {
      sentence: "an answer that is none",
      answer: { kind: "unknown", error: throttled } as const,
      wanted: { kind: "retry", why: "429", error: throttled },
    },
    {
      sentence: "another's machine",
      answer: { kind: "notOwned", message: "another's" } as const,
      wanted: { kind: "leave", why: "another's" },
    },
  ])("gives nothing for $sentence", ({ answer, wanted }) => {
    expect(planCloud({ node: a, answer })).toEqual(wanted);
  });

  test.each([
    { sentence: "has ranges", parts: { spec: { podCIDRs: ["10.0.0.0/24"] } } },
    { sentence: "is going", parts: GOING },
  ])("leaves a Node that $sentence", ({ parts }) => {
    expect(planCloud({ node: node("a", parts), answer: present(["10.8.1.0/24"]) })).toMatchObject({ kind: "leave" });
  });
});

describe("predicates", () => {
  const RANGED = { spec: { podCIDRs: ["10.0.0.0/24"] } };
  const GOING = { metadata: { deletionTimestampMs: 1 } };

  describe("needsRanges()", () => {
    test.each([
      { sentence: "a Node without ranges", parts: {}, wanted: true },
      { sentence: "not one with ranges", parts: RANGED, wanted: false },
      { sentence: "not one that is going", parts: GOING, wanted: false },
    ])("is for $sentence", ({ parts, wanted }) => {
      expect(needsRanges(node("a", parts))).toBe(wanted);
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
