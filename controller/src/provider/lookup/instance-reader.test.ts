import { describe, expect, test } from "vitest";
import { resolveOwner, type ProviderReport } from "./instance-reader.ts";
import { contractError, ProviderError } from "../model/errors.ts";
import type { InstanceResult } from "../model/instance.ts";

const witness = { provider: "x", scopeId: "s", bootId: "b", receivedAtMs: 5 };
const instance = {
  providerId: "east://i-1",
  name: "n1",
  instanceType: undefined,
  zone: undefined,
  region: undefined,
  addresses: [],
  state: "running",
  stateReason: "",
  labels: {},
  podCidrs: undefined,
  createTimeMs: undefined,
  revision: "",
  warnings: [],
} as const;
const present: InstanceResult = { kind: "present", instance, readTimeMs: 5, witness };
const absentAt = (observeTimeMs: number): InstanceResult => {
  return { kind: "absent", basis: "lookupMiss", observeTimeMs, strong: true, witness };
};
const missedAt = (observeTimeMs: number): InstanceResult => {
  return { kind: "noMatch", basis: "lookupMiss", observeTimeMs, strong: true, witness };
};
const notOwned: InstanceResult = { kind: "notOwned", message: "no" };
const away: InstanceResult = {
  kind: "unknown",
  error: new ProviderError({ code: "UNAVAILABLE", message: "the cloud is away" }),
};
const early: InstanceResult = { kind: "unknown", error: contractError("NOT_YET_CONSISTENT", "too early") };

const reports = (...answers: readonly InstanceResult[]): readonly ProviderReport[] =>
  answers.map((answer, index) => ({ provider: ["east", "west", "north"][index] ?? "", answer }));

describe("resolveOwner()", () => {
  test.each([
    ["of the one that has it", [present, absentAt(1)], present],
    ["of the one that has it, whichever is asked first", [notOwned, absentAt(1), present], present],
    ["of the only one that can be asked", [present], present],
    ["of none, by the oldest look", [missedAt(3), missedAt(2), notOwned], missedAt(2)],
    ["of the one that had it", [missedAt(1), absentAt(3), notOwned], absentAt(3)],
    ["of none when two had it", [absentAt(3), absentAt(2)], missedAt(2)],
    ["not yet known while no provider has it and one does not know", [absentAt(1), away], away],
  ] as const)("the machine is %s", (_, answers, expected) => {
    expect(resolveOwner("n1", reports(...answers), true)).toEqual(expected);
  });

  test("no provider gets an instance that two have, even while a third does not know", () => {
    expect(resolveOwner("n1", reports(present, away, present), false)).toMatchObject({
      kind: "unknown",
      error: {
        class: "OPERATOR",
        reason: "AMBIGUOUS_NAME",
        message: expect.stringContaining("east and north could own node n1: each has an instance of that name"),
      },
    });
  });

  test.each([
    ["is reported when it is new", away, true, "AMBIGUOUS_NAME"],
    ["is not reported when it is not new", away, false, "OWNER_UNKNOWN"],
    ["is not reported for a cloud that shows instances late", early, true, "OWNER_UNKNOWN"],
  ] as const)("the wait for one that does not know %s", (_, other, isNews, reason) => {
    const answer = resolveOwner("n1", reports(present, other), isNews);
    expect(answer).toMatchObject({
      kind: "unknown",
      error: { class: "OUTCOME_UNKNOWN", reason, message: expect.stringContaining("but west cannot determine yet") },
    });
  });

  test("an instance of no possible provider is not changed", () => {
    expect(resolveOwner("n1", reports(notOwned, notOwned), true)).toEqual({
      kind: "notOwned",
      message: "node n1 has no provider ID, and east and west do not own it",
    });
  });
});
