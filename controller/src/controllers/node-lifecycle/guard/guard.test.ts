import { describe, expect, test } from "vitest";
import type { Absences } from "./absences.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import { type GuardInput, type GuardRules, decide, type ProviderState } from "./guard.ts";

const NOW = 10_000_000;
const MONOTONIC = 500_000;
const rules: GuardRules = {
  confirmations: 2,
  spanMs: 30_000,
  minAgeMs: 60_000,
  settleMs: 5000,
  freezeMs: 60_000,
  deletesNothing: false,
};
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
  readonly provider?: Partial<ProviderState>;
  readonly circuitBreaker?: Partial<CircuitBreaker>;
  readonly rules?: Partial<GuardRules>;
  readonly createdMs?: number;
  readonly isProtected?: boolean;
}

/** A Node that goes, but for what a row says. */
function caseWith(parts: Parts = {}): GuardInput {
  return {
    absences: "absences" in parts && parts.absences === undefined ? undefined : absences(parts.absences),
    provider: {
      name: "acme",
      scopeId: "project-1",
      bootId: "boot-1",
      untrustedReason: undefined,
      existenceConsistencyDelayMs: 0,
      failedAtMs: undefined,
      contradictedAtMs: undefined,
      ...parts.provider,
    },
    circuitBreaker: { gone: 1, nodes: 100, isUnknown: false, maxPercent: 10, exempt: false, ...parts.circuitBreaker },
    isProtected: parts.isProtected ?? false,
    rules: { ...rules, ...parts.rules },
    createdMs: parts.createdMs ?? NOW - 3_600_000,
    nowMs: NOW,
    monotonicMs: MONOTONIC,
  };
}

const heard = (agoMs: number) => ({ observeTimeMs: NOW - agoMs, heardAtMs: MONOTONIC - agoMs });

describe("decide() deletes", () => {
  test.each<{ it: string; parts: Parts }>([
    { it: "after two absences exactly the span apart", parts: {} },
    { it: "after three when three are wanted", parts: { rules: { confirmations: 3 }, absences: { count: 3 } } },
    { it: "once the freeze is over to the millisecond", parts: { provider: { failedAtMs: MONOTONIC - 60_000 } } },
    { it: "a Node exactly old enough, its creation rounded down", parts: { createdMs: NOW - 61_000 } },
    {
      it: "a Node as old as its provider wants",
      parts: { createdMs: NOW - 121_000, provider: { existenceConsistencyDelayMs: 120_000 } },
    },
    {
      it: "after one conclusive absence that has settled",
      parts: { absences: { count: 1, conclusive: true, first: heard(5000), last: heard(5000) } },
    },
    { it: "up to the limit", parts: { circuitBreaker: { gone: 10, nodes: 109 } } },
    { it: "three of a small cluster", parts: { circuitBreaker: { gone: 3, nodes: 3 } } },
    { it: "an exempt Node under the circuitBreaker", parts: { circuitBreaker: { gone: 99, exempt: true } } },
  ])("$it", ({ parts }) => {
    expect(decide(caseWith(parts))).toEqual({ kind: "delete" });
  });
});

describe("decide() holds", () => {
  test.each<{ it: string; parts: Parts; reason: string; message: RegExp; endsInMs: number | undefined }>([
    {
      it: "without any absence",
      parts: { absences: undefined },
      reason: "unconfirmed",
      message: /no absence/,
      endsInMs: undefined,
    },
    {
      it: "absences of a process that is gone",
      parts: { provider: { bootId: "boot-2" } },
      reason: "unconfirmed",
      message: /no absence/,
      endsInMs: undefined,
    },
    {
      it: "absences of another scope",
      parts: { provider: { scopeId: "project-2" } },
      reason: "unconfirmed",
      message: /no absence/,
      endsInMs: undefined,
    },
    {
      it: "absences of another provider",
      parts: { provider: { name: "other" } },
      reason: "unconfirmed",
      message: /no absence/,
      endsInMs: undefined,
    },
    {
      it: "while the provider is not trusted",
      parts: { provider: { untrustedReason: "cloud not ready" } },
      reason: "providerUntrusted",
      message: /provider acme: cloud not ready/,
      endsInMs: undefined,
    },
    {
      it: "within a minute of a failure",
      parts: { provider: { failedAtMs: MONOTONIC - 59_999 } },
      reason: "providerErrors",
      message: /failed, or contradicted itself, less than 60 s ago/,
      endsInMs: 1,
    },
    {
      it: "absences from before another machine turned up",
      parts: {
        absences: { first: { observeTimeMs: NOW - 40_000, heardAtMs: MONOTONIC - 40_000 } },
        provider: { contradictedAtMs: MONOTONIC - 40_000 },
      },
      reason: "unconfirmed",
      message: /provider acme reported another instance as absent that exists/,
      endsInMs: undefined,
    },
    {
      it: "a young Node",
      parts: { createdMs: NOW - 60_999 },
      reason: "tooNew",
      message: /younger than 60 s/,
      endsInMs: 1,
    },
    {
      it: "a Node younger than its provider wants",
      parts: { createdMs: NOW - 120_999, provider: { existenceConsistencyDelayMs: 120_000 } },
      reason: "tooNew",
      message: /younger than 120 s/,
      endsInMs: 1,
    },
    {
      it: "a young Node however conclusive",
      parts: { createdMs: NOW - 1000, absences: { conclusive: true } },
      reason: "tooNew",
      message: /younger/,
      endsInMs: 60_000,
    },
    {
      it: "after one absence",
      parts: { absences: { count: 1, first: heard(0) } },
      reason: "confirming",
      message: /1 of 2 absences, over 0 of 30 s/,
      endsInMs: 30_000,
    },
    {
      it: "after one of three, for half the span",
      parts: { rules: { confirmations: 3 }, absences: { count: 1, first: heard(0) } },
      reason: "confirming",
      message: /1 of 3/,
      endsInMs: 15_000,
    },
    {
      it: "one absence short over any span",
      parts: { absences: { count: 1, first: heard(90_000) } },
      reason: "confirming",
      message: /1 of 2 absences, over 90 of 30 s/,
      endsInMs: 0,
    },
    {
      it: "absences that follow each other too fast by our clock",
      parts: { absences: { first: { observeTimeMs: NOW - 90_000, heardAtMs: MONOTONIC - 29_999 } } },
      reason: "confirming",
      message: /2 of 2 absences, over 29 of 30 s/,
      endsInMs: 1,
    },
    {
      it: "absences that follow each other too fast by the reader's clock",
      parts: { absences: { first: { observeTimeMs: NOW - 29_999, heardAtMs: MONOTONIC - 90_000 } } },
      reason: "confirming",
      message: /2 of 2/,
      endsInMs: 1,
    },
    {
      it: "a conclusive absence until all are counted",
      parts: { absences: { count: 1, conclusive: true, first: heard(4999) } },
      reason: "confirming",
      message: /terminated/,
      endsInMs: 1,
    },
    {
      it: "one more than the limit",
      parts: { circuitBreaker: { gone: 11, nodes: 109 } },
      reason: "tooManyNodeDeletions",
      message: /instances of 11 of 109 Nodes as absent, and at most 10 are deleted within 10 minutes/,
      endsInMs: undefined,
    },
    {
      it: "four of a small cluster",
      parts: { circuitBreaker: { gone: 4, nodes: 39 } },
      reason: "tooManyNodeDeletions",
      message: /at most 3 are deleted/,
      endsInMs: undefined,
    },
    {
      it: "conclusive absences by the circuitBreaker too",
      parts: { absences: { conclusive: true }, circuitBreaker: { gone: 50 } },
      reason: "tooManyNodeDeletions",
      message: /at most/,
      endsInMs: undefined,
    },
    {
      it: "an exempt Node by every other rule",
      parts: { absences: { count: 1 }, circuitBreaker: { exempt: true } },
      reason: "confirming",
      message: /1 of 2/,
      endsInMs: 0,
    },
  ])("$it", ({ parts, reason, message, endsInMs }) => {
    expect(decide(caseWith(parts))).toEqual({
      kind: "delayed",
      reason,
      message: expect.stringMatching(message),
      endsInMs,
    });
  });
});
