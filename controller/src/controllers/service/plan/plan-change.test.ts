import { describe, expect, test } from "vitest";
import {
  absent,
  edited,
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
  desired,
} from "../../../../test/support/service/service-plan-builders.ts";
import { plan } from "./plan.ts";

describe("plan() makes the load balancer be ensured", () => {
  const addFinalizer = { metadata: { uid, finalizers: [FINALIZER] } };

  test.each([
    {
      it: "of a new Service, finalizer first",
      input: wanted({ service: fresh }),
      want: { trigger: "service created", finalizerPatch: addFinalizer },
    },
    {
      it: "that the cloud does not have",
      input: wanted({ observed: absent }),
      want: { trigger: "not known to match the spec" },
    },
    {
      it: "that another spec is in force for",
      input: wanted({ observed: present({ specFingerprint: "spec-0" }) }),
      want: {
        trigger: "not known to match the spec",
        acknowledgedNodes: "nodes-1",
        inForce: { ...unverified, spec: undefined, specFingerprint: "spec-0" },
      },
    },
    {
      it: "that was left half made by an earlier process",
      input: wanted({ observed: present({ phase: "provisioning", operation }) }),
      want: { trigger: "not known to match the spec" },
    },
    {
      it: "that has failed",
      input: wanted({ observed: present({ phase: "failed" }) }),
      want: { trigger: "not known to match the spec" },
    },
    {
      it: "of a Service that was edited, although the request stays the same",
      input: wanted({ service: edited, present: known }),
      want: { trigger: "service changed", loadBalancerId: "lb-1" },
    },
    {
      it: "whose request differs since the provider declares more",
      input: wanted({ desired: desired("spec-2"), present: known }),
      want: { trigger: "service changed", loadBalancerId: "lb-1" },
    },
    {
      it: "that is being created for an earlier spec, with the operation in progress",
      input: wanted({ service: edited, present: making }),
      want: { trigger: "service changed", loadBalancerId: "lb-1", operationId: "op-1" },
    },
    {
      it: "that is being made for other nodes",
      input: wanted({ desired: desired("spec-1", "nodes-2"), present: making }),
      want: { trigger: "nodes changed", loadBalancerId: "lb-1", operationId: "op-1" },
    },
    {
      it: "that vanished while it was being created",
      input: wanted({ present: making, observed: absent }),
      want: {
        trigger: "load balancer vanished while it was being created",
        loadBalancerId: "lb-1",
        operationId: "op-1",
      },
    },
    {
      it: "that was made for something else",
      input: wanted({ present: making, observed: present({ specFingerprint: "spec-0" }) }),
      want: { trigger: "another spec is in force", loadBalancerId: "lb-1", operationId: "op-1" },
    },
    {
      it: "that was made with other nodes",
      input: wanted({ present: making, observed: present({ nodesFingerprint: "nodes-0" }) }),
      want: { trigger: "another spec is in force", loadBalancerId: "lb-1", operationId: "op-1" },
    },
  ])("$it", ({ input, want }) => {
    expect(plan(input)).toEqual({
      kind: "change",
      service: input.service,
      provider: "acme",
      desired: input.desired,
      purpose: "ensure",
      call: "ensure",
      loadBalancerId: undefined,
      operationId: undefined,
      finalizerPatch: undefined,
      drift: undefined,
      acknowledgedNodes: input.present?.operation === undefined ? input.present?.nodesFingerprint : undefined,
      ignored: [],
      isRepeated: false,
      isFound: false,
      inForce: input.present,
      ...want,
    });
  });

  test("and names what the provider leaves out", () => {
    const ignored = { feature: "RequestedIp", field: "spec.loadBalancerIP", message: "m", effect: "ignored" } as const;
    expect(plan(wanted({ unsupported: [ignored] }))).toMatchObject({ kind: "change", ignored: [ignored] });
  });
});

describe("plan() makes the nodes be updated", () => {
  const newNodes = desired("spec-1", "nodes-2");

  test.each([
    {
      it: "by the call for nodes",
      input: wanted({ desired: newNodes, present: known }),
      call: "updateNodes",
      operationId: undefined,
    },
    {
      it: "by Ensure where the provider has no call for nodes",
      input: wanted({ desired: newNodes, present: known, updatesNodes: false }),
      call: "ensure",
      operationId: undefined,
    },
    {
      it: "again, while an earlier update is under way",
      input: wanted({ desired: newNodes, present: updating }),
      call: "updateNodes",
      operationId: "op-1",
    },
    {
      it: "after a restart, when only they differ from what is in force",
      input: wanted({ desired: newNodes, observed: present() }),
      call: "updateNodes",
      operationId: undefined,
    },
  ])("$it", ({ input, call, operationId }) => {
    expect(plan(input)).toEqual({
      kind: "change",
      service: held,
      provider: "acme",
      desired: newNodes,
      purpose: "update",
      call,
      trigger: "nodes changed",
      loadBalancerId: "lb-1",
      operationId,
      finalizerPatch: undefined,
      drift: undefined,
      acknowledgedNodes: operationId === undefined ? "nodes-1" : undefined,
      ignored: [],
      isRepeated: false,
      isFound: input.present === undefined,
      inForce: input.present ?? unverified,
    });
  });

  test("without repeating what the provider leaves out", () => {
    const ignored = { feature: "RequestedIp", field: "spec.loadBalancerIP", message: "m", effect: "ignored" } as const;
    expect(plan(wanted({ desired: newNodes, present: known, unsupported: [ignored] }))).toMatchObject({
      purpose: "update",
      ignored: [],
    });
  });
});
