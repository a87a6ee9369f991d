import { describe, expect, test } from "vitest";
import { held, known, loadBalancer, making, operation, wish } from "../../../../test/support/service-plan-builders.ts";
import { progressOf } from "./progress.ts";

function condition(type: string, status: "True" | "False" | "Unknown", reason: string, message: string) {
  return { type, status, reason, message, lastTransitionTimeMs: undefined };
}

describe("progressOf()", () => {
  const change = { service: held, provider: "acme", wish: wish(), purpose: "ensure" } as const;

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
      it: "one whose addresses are not told",
      given: { ingress: undefined },
      want: { kind: "done", present: { ...known, ingress: undefined } },
    },
    {
      it: "one that serves while it is changed",
      given: { phase: "updating" as const, operation },
      want: { kind: "pending", present: { ...known, operation: making.operation } },
    },
    {
      it: "one without address yet",
      given: { ingress: [] },
      want: { kind: "done", present: { ...known, ingress: [] } },
    },
    {
      it: "one that serves while work goes on",
      given: { phase: "active" as const, operation },
      want: { kind: "pending", present: { ...known, operation: making.operation } },
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
      it: "one still being deleted for an earlier wish",
      given: { phase: "deleting" as const },
      want: {
        kind: "pending",
        present: { ...making, operation: { id: "", purpose: "ensure", pollAfterMs: 5000 } },
      },
    },
    {
      it: "one that has failed",
      given: { phase: "failed" as const },
      want: { kind: "failed", message: "the provider says that load balancer lb-1 has failed" },
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
        message: "the provider says that load balancer lb-1 has failed: Quota: Exceeded: 5 of 5; Address",
      },
    },
  ])("tells of $it", ({ given, want }) => {
    expect(progressOf(change, loadBalancer(given))).toEqual(want);
  });

  test("remembers what was sent, not what the provider echoes", () => {
    const echoed = loadBalancer({ specFingerprint: "", nodesFingerprint: "" });
    expect(progressOf(change, echoed)).toEqual({ kind: "done", present: known });
  });
});
