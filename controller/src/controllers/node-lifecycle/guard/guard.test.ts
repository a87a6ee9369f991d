import { describe, expect, test } from "vitest";
import type { Absences } from "./absences.ts";
import type { Brake } from "./circuit-breaker.ts";
import { type Case, type GuardRules, judge, type Standing } from "./guard.ts";

const NOW = 10_000_000;
const MONOTONIC = 500_000;
const rules: GuardRules = { confirmations: 2, spanMs: 30_000, minAgeMs: 60_000, settleMs: 5000, freezeMs: 60_000 };
const witness = { provider: "acme", scopeId: "project-1", bootId: "boot-1" };

const absences = (parts: Partial<Absences> = {}): Absences => ({
  witness,
  count: 2,
  first: { observeTimeMs: NOW - 30_000, heardAtMs: MONOTONIC - 30_000 },
  last: { observeTimeMs: NOW, heardAtMs: MONOTONIC },
  conclusive: false,
  ...parts,
});

interface Parts {
  readonly absences?: Partial<Absences> | undefined;
  readonly standing?: Partial<Standing>;
  readonly brake?: Partial<Brake>;
  readonly rules?: Partial<GuardRules>;
  readonly createdMs?: number;
}

/** A Node that goes, but for what a row says. */
function caseWith(parts: Parts = {}): Case {
  return {
    absences: "absences" in parts && parts.absences === undefined ? undefined : absences(parts.absences),
    standing: {
      name: "acme",
      scopeId: "project-1",
      bootId: "boot-1",
      doubt: undefined,
      existenceConsistencyDelayMs: 0,
      failedAtMs: undefined,
      contradictedAtMs: undefined,
      ...parts.standing,
    },
    brake: { gone: 1, nodes: 100, isUnknown: false, maxPercent: 10, exempt: false, ...parts.brake },
    rules: { ...rules, ...parts.rules },
    createdMs: parts.createdMs ?? NOW - 3_600_000,
    nowMs: NOW,
    monotonicMs: MONOTONIC,
  };
}

const heard = (agoMs: number) => ({ observeTimeMs: NOW - agoMs, heardAtMs: MONOTONIC - agoMs });

describe("judge() deletes", () => {
  test.each<{ it: string; parts: Parts }>([
    { it: "after two absences exactly the span apart", parts: {} },
    { it: "after three when three are wanted", parts: { rules: { confirmations: 3 }, absences: { count: 3 } } },
    { it: "once the freeze is over to the millisecond", parts: { standing: { failedAtMs: MONOTONIC - 60_000 } } },
    { it: "a Node exactly old enough, its creation rounded down", parts: { createdMs: NOW - 61_000 } },
    {
      it: "a Node as old as its provider wants",
      parts: { createdMs: NOW - 121_000, standing: { existenceConsistencyDelayMs: 120_000 } },
    },
    {
      it: "after one conclusive absence that has settled",
      parts: { absences: { count: 1, conclusive: true, first: heard(5000), last: heard(5000) } },
    },
    { it: "up to the brake's share", parts: { brake: { gone: 10, nodes: 109 } } },
    { it: "three of a small cluster", parts: { brake: { gone: 3, nodes: 3 } } },
    { it: "an exempt Node under the brake", parts: { brake: { gone: 99, exempt: true } } },
  ])("$it", ({ parts }) => {
    expect(judge(caseWith(parts))).toEqual({ kind: "delete" });
  });
});

describe("judge() holds", () => {
  test.each<{ it: string; parts: Parts; reason: string; message: RegExp; overInMs: number | undefined }>([
    {
      it: "without any absence",
      parts: { absences: undefined },
      reason: "unconfirmed",
      message: /no absence/,
      overInMs: undefined,
    },
    {
      it: "absences of a process that is gone",
      parts: { standing: { bootId: "boot-2" } },
      reason: "unconfirmed",
      message: /no absence/,
      overInMs: undefined,
    },
    {
      it: "absences of another scope",
      parts: { standing: { scopeId: "project-2" } },
      reason: "unconfirmed",
      message: /no absence/,
      overInMs: undefined,
    },
    {
      it: "absences of another provider",
      parts: { standing: { name: "other" } },
      reason: "unconfirmed",
      message: /no absence/,
      overInMs: undefined,
    },
    {
      it: "while the provider is in doubt",
      parts: { standing: { doubt: "cloud not ready" } },
      reason: "providerDoubted",
      message: /provider acme: cloud not ready/,
      overInMs: undefined,
    },
    {
      it: "within a minute of a failure",
      parts: { standing: { failedAtMs: MONOTONIC - 59_999 } },
      reason: "providerFailed",
      message: /failed, or contradicted itself, less than 60 s ago/,
      overInMs: 1,
    },
    {
      it: "absences from before another machine turned up",
      parts: {
        absences: { first: { observeTimeMs: NOW - 40_000, heardAtMs: MONOTONIC - 40_000 } },
        standing: { contradictedAtMs: MONOTONIC - 40_000 },
      },
      reason: "unconfirmed",
      message: /provider acme called another machine absent that is there/,
      overInMs: undefined,
    },
    {
      it: "a young Node",
      parts: { createdMs: NOW - 60_999 },
      reason: "young",
      message: /younger than 60 s/,
      overInMs: 1,
    },
    {
      it: "a Node younger than its provider wants",
      parts: { createdMs: NOW - 120_999, standing: { existenceConsistencyDelayMs: 120_000 } },
      reason: "young",
      message: /younger than 120 s/,
      overInMs: 1,
    },
    {
      it: "a young Node however conclusive",
      parts: { createdMs: NOW - 1000, absences: { conclusive: true } },
      reason: "young",
      message: /younger/,
      overInMs: 60_000,
    },
    {
      it: "after one absence",
      parts: { absences: { count: 1, first: heard(0) } },
      reason: "counting",
      message: /1 of 2 absences, over 0 of 30 s/,
      overInMs: 30_000,
    },
    {
      it: "after one of three, for half the span",
      parts: { rules: { confirmations: 3 }, absences: { count: 1, first: heard(0) } },
      reason: "counting",
      message: /1 of 3/,
      overInMs: 15_000,
    },
    {
      it: "one absence short over any span",
      parts: { absences: { count: 1, first: heard(90_000) } },
      reason: "counting",
      message: /1 of 2 absences, over 90 of 30 s/,
      overInMs: 0,
    },
    {
      it: "absences that follow each other too fast by our clock",
      parts: { absences: { first: { observeTimeMs: NOW - 90_000, heardAtMs: MONOTONIC - 29_999 } } },
      reason: "counting",
      message: /2 of 2 absences, over 29 of 30 s/,
      overInMs: 1,
    },
    {
      it: "absences that follow each other too fast by the reader's clock",
      parts: { absences: { first: { observeTimeMs: NOW - 29_999, heardAtMs: MONOTONIC - 90_000 } } },
      reason: "counting",
      message: /2 of 2/,
      overInMs: 1,
    },
    {
      it: "a conclusive absence until all are counted",
      parts: { absences: { count: 1, conclusive: true, first: heard(4999) } },
      reason: "counting",
      message: /terminated/,
      overInMs: 1,
    },
    {
      it: "one more than the brake's share",
      parts: { brake: { gone: 11, nodes: 109 } },
      reason: "brake",
      message: /machines of 11 of 109 Nodes absent, and at most 10 go within 10 minutes/,
      overInMs: undefined,
    },
    {
      it: "four of a small cluster",
      parts: { brake: { gone: 4, nodes: 39 } },
      reason: "brake",
      message: /at most 3 go/,
      overInMs: undefined,
    },
    {
      it: "conclusive absences by the brake too",
      parts: { absences: { conclusive: true }, brake: { gone: 50 } },
      reason: "brake",
      message: /at most/,
      overInMs: undefined,
    },
    {
      it: "an exempt Node by every other rule",
      parts: { absences: { count: 1 }, brake: { exempt: true } },
      reason: "counting",
      message: /1 of 2/,
      overInMs: 0,
    },
  ])("$it", ({ parts, reason, message, overInMs }) => {
    expect(judge(caseWith(parts))).toEqual({
      kind: "hold",
      reason,
      message: expect.stringMatching(message),
      overInMs,
    });
  });
});
