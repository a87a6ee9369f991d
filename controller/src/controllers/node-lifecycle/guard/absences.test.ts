import { describe, expect, test } from "vitest";
import { contractError } from "../../../provider/model/errors.ts";
import type { Absence, InstanceResult } from "../../../provider/model/instance.ts";
import { type Absences, countResult, ignoredReason, type Moments } from "./absences.ts";

const CREATED = 1_000_000;
const NOT_READY = 2_000_000;
const witness = { provider: "acme", scopeId: "project-1", bootId: "boot-1", receivedAtMs: 0 };

const moments = (parts: Partial<Moments> = {}): Moments => ({
  createdMs: CREATED,
  notReadySinceMs: NOT_READY,
  nowMs: NOT_READY + 40_000,
  monotonicMs: 40_000,
  contradictedAtMs: undefined,
  ...parts,
});

const absent = (parts: Partial<Absence> = {}): InstanceResult & { readonly kind: "absent" } => ({
  kind: "absent",
  basis: "lookupMiss",
  observeTimeMs: NOT_READY + 39_000,
  strong: true,
  witness,
  ...parts,
});

const before = (parts: Partial<Absences> = {}): Absences => ({
  witness: { provider: "acme", scopeId: "project-1", bootId: "boot-1" },
  count: 1,
  first: { observeTimeMs: NOT_READY + 5000, heardAtMs: 5100 },
  last: { observeTimeMs: NOT_READY + 5000, heardAtMs: 5100 },
  conclusive: false,
  ...parts,
});

const one = before({
  first: { observeTimeMs: NOT_READY + 39_000, heardAtMs: 40_000 },
  last: { observeTimeMs: NOT_READY + 39_000, heardAtMs: 40_000 },
});

describe("countResult() begins to count", () => {
  test.each<{ it: string; result: InstanceResult; want: Absences }>([
    { it: "a miss", result: absent(), want: one },
    { it: "a complete list's miss", result: absent({ basis: "completeListMiss" }), want: one },
    {
      it: "a terminated machine as conclusive",
      result: absent({ basis: "terminated" }),
      want: { ...one, conclusive: true },
    },
    {
      it: "a terminated machine from a replica as one of many",
      result: absent({ basis: "terminated", strong: false }),
      want: one,
    },
  ])("with $it", ({ result, want }) => {
    expect(countResult(undefined, result, moments())).toEqual(want);
  });
});

describe("countResult() ends the count", () => {
  const instance = {
    providerId: "acme://a",
    name: "a",
    instanceType: undefined,
    zone: undefined,
    region: undefined,
    addresses: [],
    state: "stopped",
    stateReason: "",
    labels: {},
    podCidrs: undefined,
    createTimeMs: undefined,
    revision: "",
    warnings: [],
  } as const;

  test.each<{ it: string; result: InstanceResult }>([
    { it: "a machine, even a stopped one", result: { kind: "present", instance, readTimeMs: 0, witness } },
    { it: "no result", result: { kind: "unknown", error: contractError("CLOUD_UNAVAILABLE", "503") } },
    { it: "throttling", result: { kind: "unknown", error: contractError("RATE_LIMITED", "429") } },
    { it: "another owner", result: { kind: "notOwned", message: "not acme" } },
  ])("with $it", ({ result }) => {
    expect(countResult(before(), result, moments())).toBeUndefined();
  });
});

describe("countResult() counts again", () => {
  test.each<{ it: string; earlier?: Partial<Absences>; result?: Partial<Absence>; now?: Partial<Moments> }>([
    { it: "after a restart of the provider", result: { witness: { ...witness, bootId: "boot-2" } } },
    { it: "in another scope", result: { witness: { ...witness, scopeId: "project-2" } } },
    { it: "when another provider answers", result: { witness: { ...witness, provider: "other" } } },
    { it: "when the Node was ready meanwhile", now: { notReadySinceMs: NOT_READY + 4001 } },
  ])("$it", ({ earlier, result, now }) => {
    const counted = countResult(before({ count: 7, ...earlier }), absent(result), moments(now));
    expect(counted).toMatchObject({ count: 1, first: one.first, last: one.last });
  });
});

describe("countResult() goes on", () => {
  test.each<{ it: string; result?: Partial<Absence>; now?: Partial<Moments>; want: Partial<Absences> }>([
    { it: "with a newer reading", want: { count: 2, last: one.last } },
    { it: "without the same reading reported again", result: { observeTimeMs: NOT_READY + 5000 }, want: {} },
    { it: "without an older reading", result: { observeTimeMs: NOT_READY + 4999 }, want: {} },
    { it: "without a reading of before the Node", result: { observeTimeMs: CREATED + 999 }, want: {} },
    { it: "without a reading of the future", result: { observeTimeMs: NOT_READY + 100_001 }, want: {} },
    {
      it: "when the Node became not ready a second before the first",
      now: { notReadySinceMs: NOT_READY + 4000 },
      want: { count: 2, last: one.last },
    },
    {
      it: "and becomes conclusive",
      result: { basis: "terminated" },
      want: { count: 2, last: one.last, conclusive: true },
    },
  ])("$it", ({ result, now, want }) => {
    expect(countResult(before(), absent(result), moments(now))).toEqual(before(want));
  });

  test("and stays conclusive when the cloud has forgotten the machine", () => {
    expect(countResult(before({ conclusive: true }), absent(), moments())).toEqual(
      before({ count: 2, last: one.last, conclusive: true }),
    );
  });
});

describe("ignoredReason()", () => {
  const OLD_NODE = { createdMs: CREATED, notReadySinceMs: CREATED };

  test.each([
    {
      it: "in the second of the creation",
      observeTimeMs: CREATED + 999,
      parts: OLD_NODE,
      want: /before the Node was created/,
    },
    {
      it: "in the second of becoming not ready",
      observeTimeMs: NOT_READY + 999,
      parts: {},
      want: /before the Node became not ready/,
    },
    { it: "more than a minute ahead", observeTimeMs: NOT_READY + 100_001, parts: {}, want: /in the future/ },
  ])("is there for a reading $it", ({ observeTimeMs, parts, want }) => {
    expect(ignoredReason(absent({ observeTimeMs }), moments(parts))).toMatch(want);
  });

  test.each([
    { it: "a second after the creation", observeTimeMs: CREATED + 1000, parts: OLD_NODE },
    { it: "a second after becoming not ready", observeTimeMs: NOT_READY + 1000, parts: {} },
    { it: "a minute ahead", observeTimeMs: NOT_READY + 100_000, parts: {} },
  ])("is not there for a reading $it", ({ observeTimeMs, parts }) => {
    expect(ignoredReason(absent({ observeTimeMs }), moments(parts))).toBeUndefined();
  });
});

describe("countResult() and a provider that was wrong about another machine", () => {
  test.each([
    { it: "keeps what was heard after that", contradictedAtMs: 5099, count: 2 },
    { it: "counts again what was heard by then", contradictedAtMs: 5100, count: 1 },
    { it: "counts again what was heard long before", contradictedAtMs: 20_000, count: 1 },
  ])("$it", ({ contradictedAtMs, count }) => {
    expect(countResult(before(), absent(), moments({ contradictedAtMs }))).toMatchObject({ count });
  });
});
