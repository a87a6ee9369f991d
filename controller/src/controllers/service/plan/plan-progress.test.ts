import { describe, expect, test } from "vitest";
import {
  absent,
  edited,
  fresh,
  held,
  known,
  loadBalancer,
  making,
  operation,
  present,
  unverified,
  updating,
  wanted,
  desired,
} from "../../../../test/support/service/service-plan-builders.ts";
import { inForceInCloud, isReadNeeded, progressOf } from "./plan.ts";

function condition(type: string, status: "True" | "False" | "Unknown", reason: string, message: string) {
  return { type, status, reason, message, lastTransitionTimeMs: undefined };
}

describe("progressOf()", () => {
  const change = { service: held, provider: "acme", desired: desired(), purpose: "ensure" } as const;

  test.each([
    { it: "an active load balancer", given: {}, want: { kind: "done", present: known } },
    {
      it: "a load balancer of unknown phase",
      given: { phase: "unknown" as const },
      want: {
        kind: "pending",
        present: { ...making, operation: { id: "", purpose: "ensure", pollAfterMs: 5000 } },
      },
    },
    {
      it: "one whose addresses are not known",
      given: { ingress: undefined },
      want: { kind: "done", present: { ...known, ingress: undefined } },
    },
    {
      it: "one that serves while it is changed",
      given: { phase: "updating" as const, operation },
      want: { kind: "pending", present: { ...unverified, operation: making.operation } },
    },
    {
      it: "one without address yet",
      given: { ingress: [] },
      want: { kind: "done", present: { ...known, ingress: [] } },
    },
    {
      it: "one that serves while work goes on",
      given: { phase: "active" as const, operation },
      want: { kind: "pending", present: { ...unverified, operation: making.operation } },
    },
    {
      it: "one being made, whose address nothing answers at yet",
      given: { phase: "provisioning" as const, operation },
      want: { kind: "pending", present: making },
    },
    {
      it: "one being made, without a word when to ask again",
      given: { phase: "provisioning" as const },
      want: {
        kind: "pending",
        present: { ...making, operation: { id: "", purpose: "ensure", pollAfterMs: 5000 } },
      },
    },
    {
      it: "one that is still being deleted for an earlier spec",
      given: { phase: "deleting" as const },
      want: {
        kind: "pending",
        present: { ...making, operation: { id: "", purpose: "ensure", pollAfterMs: 5000 } },
      },
    },
    {
      it: "one that has failed",
      given: { phase: "failed" as const },
      want: { kind: "failed", message: "the provider reports that load balancer lb-1 has failed" },
    },
    {
      it: "one that has failed, with every reason",
      given: {
        phase: "failed" as const,
        conditions: [
          condition("Healthy", "True", "Up", "all is well"),
          condition("Quota", "False", "Exceeded", "5 of 5"),
          condition("Address", "Unknown", "", ""),
        ],
      },
      want: {
        kind: "failed",
        message: "the provider reports that load balancer lb-1 has failed: Quota: Exceeded: 5 of 5; Address",
      },
    },
  ])("reports $it", ({ given, want }) => {
    expect(progressOf(change, loadBalancer(given), known)).toEqual(want);
  });

  test("remembers what was sent, not what the provider echoes", () => {
    const echoed = loadBalancer({ specFingerprint: "", nodesFingerprint: "" });
    expect(progressOf(change, echoed, known)).toEqual({ kind: "done", present: known });
  });
});

describe("reading", () => {
  const suspicion = { missing: "repair", changed: "repair" } as const;

  describe("isReadNeeded()", () => {
    test.each([
      { it: "a new Service", input: { service: fresh, desired: desired(), present: undefined }, want: false },
      {
        it: "a Service of an earlier process",
        input: { service: held, desired: desired(), present: undefined },
        want: true,
      },
      {
        it: "a Service whose load balancer this process has asked for",
        input: { service: held, desired: desired(), present: undefined, isUnanswered: true },
        want: false,
      },
      {
        it: "such a Service, once its spec is rejected and the load balancer in force must be known",
        input: {
          service: held,
          desired: desired(),
          present: undefined,
          isUnanswered: true,
          refusal: { message: "no", retryAfterMs: undefined, nextTry: "later" },
        },
        want: true,
      },
      { it: "a settled Service", input: { service: held, desired: desired(), present: known }, want: false },
      {
        it: "a settled Service of which a request got no answer",
        input: { service: held, desired: desired(), present: known, isUnanswered: true },
        want: true,
      },
      {
        it: "such a Service that was edited since",
        input: { service: edited, desired: desired(), present: known, isUnanswered: true },
        want: false,
      },
      {
        it: "a settled Service in which a sweep takes an interest",
        input: { service: held, desired: desired(), present: known, suspicion },
        want: true,
      },
      {
        it: "such a Service that was edited meanwhile",
        input: { service: edited, desired: desired(), present: known, suspicion },
        want: false,
      },
      {
        it: "such a Service that has other nodes meanwhile",
        input: { service: held, desired: desired("spec-1", "nodes-2"), present: known, suspicion },
        want: false,
      },
      { it: "work under way", input: { service: held, desired: desired(), present: making }, want: true },
      {
        it: "work under way for an earlier Service",
        input: { service: edited, desired: desired(), present: making },
        want: false,
      },
      {
        it: "an operation in progress for another spec",
        input: { service: held, desired: desired("spec-2"), present: making },
        want: false,
      },
      {
        it: "work under way for other nodes",
        input: { service: held, desired: desired("spec-1", "nodes-2"), present: updating },
        want: false,
      },
    ])("is $want for $it", ({ input, want }) => {
      expect(isReadNeeded({ isUnanswered: false, refusal: undefined, suspicion: undefined, nowMs: 0, ...input })).toBe(
        want,
      );
    });
  });

  describe("inForceInCloud()", () => {
    test.each([
      { it: "with this spec", observed: present(), want: unverified },
      {
        it: "with another spec",
        observed: present({ specFingerprint: "spec-0" }),
        want: { ...unverified, spec: undefined, specFingerprint: "spec-0" },
      },
      { it: "but work goes on", observed: present({ operation }), want: undefined },
      { it: "but is being made", observed: present({ phase: "provisioning" }), want: undefined },
      { it: "not at all", observed: absent, want: undefined },
      { it: "for all that was read", observed: undefined, want: undefined },
    ])("knows what stands $it", ({ observed, want }) => {
      expect(inForceInCloud(wanted({ observed }))).toEqual(want);
    });
  });
});
