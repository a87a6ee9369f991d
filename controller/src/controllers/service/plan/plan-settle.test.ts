import { describe, expect, test } from "vitest";
import {
  FINALIZER,
  fresh,
  held,
  known,
  making,
  operation,
  present,
  uid,
  unverified,
  updating,
  wanted,
} from "../../../../test/support/service/service-plan-builders.ts";
import { plan } from "./plan.ts";

describe("plan() asks the cloud for nothing", () => {
  const settled = {
    kind: "settle",
    service: held,
    present: known,
    finished: undefined,
    nodeCount: 2,
    isFound: false,
    finalizerPatch: undefined,
    inspection: undefined,
  };

  test.each([
    { it: "when nothing has changed", input: wanted({ present: known }), want: settled },
    {
      it: "after a restart, when the desired spec is in force",
      input: wanted({ observed: present() }),
      want: { ...settled, present: unverified, isFound: true },
    },
    {
      it: "when the load balancer being made is ready",
      input: wanted({ present: making, observed: present() }),
      want: { ...settled, present: unverified, finished: "ensure" },
    },
    {
      it: "when the nodes being updated are in force",
      input: wanted({ present: updating, observed: present() }),
      want: { ...settled, present: unverified, finished: "update" },
    },
    {
      it: "when a provider that keeps no fingerprints says it is ready",
      input: wanted({ present: making, observed: present({ specFingerprint: "", nodesFingerprint: "" }) }),
      want: { ...settled, present: unverified, finished: "ensure" },
    },
    {
      it: "and adds the finalizer again that another client removed",
      input: wanted({ service: fresh, present: known }),
      want: {
        ...settled,
        service: fresh,
        present: { ...known, service: fresh },
        finalizerPatch: { metadata: { uid, finalizers: [FINALIZER] } },
      },
    },
  ])("$it", ({ input, want }) => {
    expect(plan(input)).toEqual(want);
  });

  test.each([
    {
      it: "while the load balancer is being made",
      input: wanted({
        present: making,
        observed: present({ phase: "provisioning", operation: { ...operation, id: "op-2" } }),
      }),
      want: { ...making, operation: { id: "op-2", purpose: "ensure", pollAfterMs: 3000 } },
    },
    {
      it: "while its nodes are being changed, and keeps its address",
      input: wanted({ present: updating, observed: present({ phase: "updating", operation }) }),
      want: updating,
    },
    { it: "before the answer of a poll", input: wanted({ present: making }), want: making },
  ])("but waits $it", ({ input, want }) => {
    expect(plan(input)).toEqual({ kind: "wait", service: held, present: want });
  });

  test("when the provider gives up on the load balancer being made", () => {
    const conditions = [
      { type: "Ready", status: "False", reason: "NoCapacity", message: "zone full", lastTransitionTimeMs: undefined },
      { type: "Named", status: "True", reason: "", message: "", lastTransitionTimeMs: undefined },
    ] as const;
    expect(plan(wanted({ present: making, observed: present({ phase: "failed", conditions }) }))).toEqual({
      kind: "fail",
      message: "the provider reports that load balancer lb-1 has failed: Ready: NoCapacity: zone full",
    });
  });
});
