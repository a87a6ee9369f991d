import { describe, expect, test } from "vitest";
import {
  absent,
  edited,
  held,
  known,
  making,
  operation,
  present,
  wanted,
  desired,
} from "../../../../test/support/service/service-plan-builders.ts";
import type { Refusal } from "./unsupported.ts";
import type { EnsureInput, DesiredLoadBalancer } from "./types.ts";
import { plan } from "./plan.ts";

describe("plan() of a rejected spec", () => {
  const refusal: Refusal = { message: "no", retryAfterMs: 5, nextTry: "later" };
  const spec1: DesiredLoadBalancer = { ...desired("spec-1", "nodes-2"), spec: known.spec };
  const refused = (parts: Partial<EnsureInput>): EnsureInput =>
    wanted({ service: edited, desired: desired("spec-2", "nodes-2"), refusal, ...parts });

  test.each([
    { it: "does nothing when there is no load balancer", input: refused({ observed: absent }), want: undefined },
    {
      it: "updates the nodes of the load balancer in force with the accepted spec",
      input: refused({ present: known }),
      want: { kind: "change", service: held, desired: spec1, purpose: "update", call: "updateNodes", ignored: [] },
    },
    {
      it: "brings them by Ensure where there is no call for nodes",
      input: refused({ present: known, updatesNodes: false }),
      want: { kind: "change", service: held, desired: spec1, purpose: "update", call: "ensure" },
    },
    {
      it: "brings nodes to what an earlier process left",
      input: refused({ observed: present() }),
      want: { kind: "change", desired: { ...spec1, spec: undefined }, purpose: "update", call: "updateNodes" },
    },
    {
      it: "does not change it when that needs an unknown spec",
      input: refused({ observed: present(), updatesNodes: false }),
      want: { kind: "settle", present: { specFingerprint: "spec-1", nodesFingerprint: "nodes-1" } },
    },
    {
      it: "goes on waiting for what was accepted before",
      input: refused({
        present: making,
        desired: desired("spec-2"),
        observed: present({ phase: "provisioning", operation }),
      }),
      want: { kind: "wait", present: { specFingerprint: "spec-1" } },
    },
  ])("$it", ({ input, want }) => {
    expect(plan(input)).toMatchObject({ kind: "refuse", refusal, meanwhile: want });
  });
});
