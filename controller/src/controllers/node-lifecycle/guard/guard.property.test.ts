import * as fc from "fast-check";
import { expect, test } from "vitest";
import { contractError } from "../../../provider/model/errors.ts";
import type { InstanceResult } from "../../../provider/model/instance.ts";
import { type Absences, countResult } from "./absences.ts";
import { type GuardRules, decide } from "./guard.ts";

const rules: GuardRules = {
  confirmations: 2,
  spanMs: 30_000,
  minAgeMs: 60_000,
  settleMs: 5000,
  freezeMs: 60_000,
  deletesNothing: false,
};
const START = 1_000_000_000;

/** One lookup: how long after the last one, what was said, from data of which age, by which process. */
interface Step {
  readonly afterMs: number;
  readonly said: "miss" | "terminated" | "unavailable" | "throttled" | "present" | "notOwned";
  readonly dataAgeMs: number;
  readonly bootId: string;
  readonly scopeId: string;
  readonly uncertain: boolean;
  readonly turnsNotReady: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  afterMs: fc.integer({ min: 0, max: 40_000 }),
  said: fc.oneof(
    { weight: 8, arbitrary: fc.constant("miss" as const) },
    { weight: 2, arbitrary: fc.constantFrom("terminated", "unavailable", "throttled", "present", "notOwned") },
  ),
  dataAgeMs: fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 0, max: 500 }) },
    { weight: 1, arbitrary: fc.integer({ min: -90_000, max: 90_000 }) },
  ),
  bootId: fc.oneof({ weight: 15, arbitrary: fc.constant("boot-1") }, { weight: 1, arbitrary: fc.constant("boot-2") }),
  scopeId: fc.oneof(
    { weight: 30, arbitrary: fc.constant("scope-1") },
    { weight: 1, arbitrary: fc.constant("scope-2") },
  ),
  uncertain: fc.oneof({ weight: 10, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  turnsNotReady: fc.oneof({ weight: 15, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});

interface Seen extends Step {
  readonly atMs: number;
  readonly observeTimeMs: number;
  readonly notReadySinceMs: number;
  readonly deleted: boolean;
}

/** The controller's loop in small: each result is counted, then evaluated. */
function play(steps: readonly Step[], ageAtStartMs: number): readonly Seen[] {
  const createdMs = START - ageAtStartMs;
  let absences: Absences | undefined;
  let failedAtMs: number | undefined;
  let notReadySinceMs = createdMs;
  let atMs = 0;
  return steps.map((current) => {
    atMs += current.afterMs;
    const nowMs = START + atMs;
    if (current.turnsNotReady) notReadySinceMs = nowMs;
    const observeTimeMs = nowMs - current.dataAgeMs;
    if (current.said === "unavailable") failedAtMs = atMs;
    absences = countResult(absences, answerOf(current, observeTimeMs), {
      createdMs,
      notReadySinceMs,
      nowMs,
      monotonicMs: atMs,
      contradictedAtMs: undefined,
    });
    const { bootId, scopeId, uncertain } = current;
    const untrustedReason = uncertain ? "not trusted" : undefined;
    const provider = {
      name: "acme",
      scopeId,
      bootId,
      untrustedReason,
      existenceConsistencyDelayMs: 0,
      failedAtMs,
      contradictedAtMs: undefined,
    };
    const circuitBreaker = { gone: 1, nodes: 100, isUnknown: false, maxPercent: 10, exempt: false };
    const { kind } = decide({
      absences,
      provider,
      circuitBreaker,
      isProtected: false,
      rules,
      createdMs,
      nowMs,
      monotonicMs: atMs,
    });
    return { ...current, atMs, observeTimeMs, notReadySinceMs, deleted: kind === "delete" };
  });
}

function answerOf({ said, bootId, scopeId }: Step, observeTimeMs: number): InstanceResult {
  const witness = { provider: "acme", scopeId, bootId, receivedAtMs: 0 };
  switch (said) {
    case "miss":
      return { kind: "absent", basis: "lookupMiss", strong: true, observeTimeMs, witness };
    case "terminated":
      return { kind: "absent", basis: "terminated", strong: true, observeTimeMs, witness };
    case "unavailable":
      return { kind: "unknown", error: contractError("CLOUD_UNAVAILABLE", "503") };
    case "throttled":
      return { kind: "unknown", error: contractError("RATE_LIMITED", "429") };
    case "present":
    case "notOwned":
      return { kind: "notOwned", message: "another's" };
    default:
      return said satisfies never;
  }
}

/** Whether what was seen up to `end` allows a deletion, reported from the whole history and not from what was counted of it. */
function isAllowed(seen: readonly Seen[], end: number, ageAtStartMs: number): boolean {
  const last = seen[end];
  if (last === undefined || last.uncertain) return false;
  const past = seen.slice(0, end + 1);
  if (past.some(({ said, atMs }) => said === "unavailable" && last.atMs - atMs < rules.freezeMs)) return false;
  if (last.atMs + ageAtStartMs < rules.minAgeMs) return false;
  const broken = past.findLastIndex(
    ({ said, bootId, scopeId }) =>
      (said !== "miss" && said !== "terminated") || bootId !== last.bootId || scopeId !== last.scopeId,
  );
  const run = past.slice(broken + 1);
  const credible = run.filter(({ observeTimeMs, atMs }) => {
    return (
      observeTimeMs > START - ageAtStartMs &&
      observeTimeMs > last.notReadySinceMs &&
      observeTimeMs <= START + atMs + 60_000
    );
  });
  if (
    credible.some(({ said, atMs }) => said === "terminated" && last.atMs - atMs >= 0) &&
    credible.some(({ atMs }) => last.atMs - atMs >= rules.settleMs)
  ) {
    return true;
  }
  return credible.some((early) =>
    credible.some(
      (late) => late.atMs - early.atMs >= rules.spanMs && late.observeTimeMs - early.observeTimeMs >= rules.spanMs,
    ),
  );
}

test("decide() never deletes on any history without confirmations that agree, span the time and are undisturbed", () => {
  let deletions = 0;
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 25, size: "max" }),
      fc.integer({ min: 0, max: 200_000 }),
      (steps, ageAtStartMs) => {
        const seen = play(steps, ageAtStartMs);
        const wrong = seen.filter(({ deleted }, index) => deleted && !isAllowed(seen, index, ageAtStartMs));
        deletions += seen.filter(({ deleted }) => deleted).length;
        expect(wrong).toEqual([]);
      },
    ),
    { numRuns: 3000 },
  );
  // The property would hold for a guard that never allows.
  expect(deletions).toBeGreaterThan(100);
});
