import { describe, expect, test } from "vitest";
import {
  absent,
  known,
  loadBalancer,
  making,
  operation,
  present,
} from "../../../../test/support/service/service-plan-builders.ts";
import { driftOf, driftDecision, isOver, isSuspect } from "./drift.ts";
import type { Repairs } from "../record/record.ts";

const seen = { ...known, baseline: { kind: "verified", fingerprint: "seen-1" } } as const;

describe("driftOf()", () => {
  test.each([
    { it: "a load balancer as acknowledged", given: present({ observedFingerprint: "seen-1" }) },
    { it: "a provider that keeps no fingerprints", given: present({ specFingerprint: "", nodesFingerprint: "" }) },
    { it: "a change under way", given: present({ phase: "updating", specFingerprint: "spec-0" }) },
    { it: "work of whatever kind under way", given: present({ specFingerprint: "spec-0", operation }) },
    { it: "a load balancer that is being deleted", given: present({ phase: "deleting", observedFingerprint: "x" }) },
    { it: "one of unknown phase", given: present({ phase: "unknown", observedFingerprint: "x" }) },
  ])("is none for $it", ({ given }) => {
    expect(driftOf(seen, given)).toBeUndefined();
  });

  test.each([
    { given: absent, kind: "missing", what: "load balancer lb-1 is gone from the cloud" },
    { given: present({ phase: "failed" }), kind: "changed", what: "load balancer lb-1 has failed" },
    {
      given: present({ specFingerprint: "spec-0" }),
      kind: "changed",
      what: "another spec is in force for load balancer lb-1",
    },
    { given: present({ nodesFingerprint: "nodes-0" }), kind: "changed", what: "load balancer lb-1 has other nodes" },
    {
      given: present({ observedFingerprint: "seen-2" }),
      kind: "changed",
      what: "load balancer lb-1 was changed in the cloud",
    },
  ])("says: $what", ({ given, kind, what }) => {
    expect(driftOf(seen, given)).toEqual({ kind, what });
  });

  test("is undefined where the provider acknowledged no observed fingerprint", () => {
    expect(driftOf(known, present({ observedFingerprint: "seen-2" }))).toBeUndefined();
  });
});

describe("isSuspect()", () => {
  test.each([
    {
      it: "what is listed as acknowledged",
      given: loadBalancer({ observedFingerprint: "seen-1" }),
      of: seen,
      want: false,
    },
    { it: "what is listed otherwise", given: loadBalancer({ observedFingerprint: "seen-2" }), of: seen, want: true },
    { it: "what a complete list lacks", given: undefined, of: seen, want: true },
    { it: "what a complete list lacks while it is made", given: undefined, of: making, want: false },
    { it: "what is changed by us", given: loadBalancer({ specFingerprint: "spec-0" }), of: making, want: false },
  ])("is $want for $it", ({ given, of, want }) => {
    expect(isSuspect(of, given)).toBe(want);
  });
});

const MINUTE_MS = 60_000;
const PERIOD_MS = 10 * MINUTE_MS;
const DAY_MS = 1440 * MINUTE_MS;
const repairs = (count: number): Repairs => ({ count, lastMs: 1000 });

describe("driftDecision()", () => {
  test("repairs at once what was not repaired before", () => {
    expect(driftDecision("changed", undefined, 0, PERIOD_MS)).toBe("repair");
    expect(driftDecision("missing", undefined, 0, PERIOD_MS)).toBe("repair");
  });

  test.each([
    { kind: "changed", count: 1, minutes: 5, before: "later" },
    { kind: "changed", count: 2, minutes: 15, before: "later" },
    { kind: "changed", count: 3, minutes: 35, before: "later" },
    { kind: "changed", count: 4, minutes: 75, before: "later" },
    { kind: "changed", count: 5, minutes: 1440, before: "suspended" },
    { kind: "changed", count: 6, minutes: 1440, before: "suspended" },
    { kind: "missing", count: 1, minutes: 5, before: "later" },
    { kind: "missing", count: 3, minutes: 35, before: "later" },
    { kind: "missing", count: 4, minutes: 60, before: "later" },
    { kind: "missing", count: 50, minutes: 60, before: "later" },
  ] as const)("repairs $kind again $minutes min after repair $count, and says $before till then", (row) => {
    const { kind, count, minutes, before } = row;
    const dueMs = 1000 + minutes * MINUTE_MS;
    expect(driftDecision(kind, repairs(count), dueMs - 1, PERIOD_MS)).toBe(before);
    expect(driftDecision(kind, repairs(count), dueMs, PERIOD_MS)).toBe("repair");
  });

  test("rests a day whatever the period", () => {
    expect(driftDecision("changed", repairs(5), 1000 + DAY_MS - 1, 1)).toBe("suspended");
  });
});

describe("isOver()", () => {
  test("is so half a period after the last repair", () => {
    const at = (afterMs: number) => isOver(repairs(3), 1000 + afterMs, PERIOD_MS);
    expect([at(PERIOD_MS / 2 - 1), at(PERIOD_MS / 2)]).toEqual([false, true]);
  });
});
