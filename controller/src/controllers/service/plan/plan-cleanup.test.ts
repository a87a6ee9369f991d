import { describe, expect, test } from "vitest";
import { service } from "../../../../test/support/builders.ts";
import {
  FINALIZER,
  held,
  known,
  uid,
  wanted,
  desired,
} from "../../../../test/support/service/service-plan-builders.ts";
import { plan } from "./plan.ts";

const cleanup = {
  kind: "cleanup",
  service: held,
  isGone: false,
  provider: "acme",
  loadBalancerId: undefined,
  deletion: undefined,
  previous: undefined,
  upkeep: undefined,
  unprotected: undefined,
} as const;

describe("plan() of a clean-up", () => {
  test.each([
    {
      it: "deletes what it knows nothing of",
      input: cleanup,
      want: { loadBalancerId: undefined, operationId: undefined, announce: true },
    },
    {
      it: "names the load balancer it knows",
      input: { ...cleanup, loadBalancerId: known.loadBalancerID },
      want: { loadBalancerId: "lb-1", operationId: undefined, announce: true },
    },
    {
      it: "asks again after a deletion under way, without a word",
      input: { ...cleanup, loadBalancerId: known.loadBalancerID, deletion: { id: "op-9" } },
      want: { loadBalancerId: "lb-1", operationId: "op-9", announce: false },
    },
  ])("$it", ({ input, want }) => {
    expect(plan(input)).toEqual({
      kind: "delete",
      service: held,
      isGone: false,
      provider: "acme",
      patch: { metadata: { uid, "$deleteFromPrimitiveList/finalizers": [FINALIZER] } },
      unprotected: undefined,
      ...want,
    });
  });

  test("patches nothing of a Service that is gone", () => {
    expect(plan({ ...cleanup, isGone: true, loadBalancerId: known.loadBalancerID })).toMatchObject({
      kind: "delete",
      isGone: true,
      patch: undefined,
    });
  });
});

describe("plan() of a clean-up of what is protected", () => {
  const annotations = { "service.cloudwire.dev/deletion-protection": "true" };
  const guarded = service("web", { metadata: { finalizers: [FINALIZER], annotations } });
  const going = service("web", { metadata: { finalizers: [FINALIZER], annotations, deletionTimestampMs: 1000 } });
  const bare = service("web", { metadata: { annotations } });
  const addFinalizer = { metadata: { uid, finalizers: [FINALIZER] } };

  test.each([
    { it: "keeps all as it is", input: { service: guarded }, want: {} },
    {
      it: "names the load balancer that it keeps",
      input: { service: guarded, loadBalancerId: known.loadBalancerID },
      want: { loadBalancerId: "lb-1" },
    },
    { it: "holds a Service that has no finalizer", input: { service: bare }, want: { finalizerPatch: addFinalizer } },
    {
      it: "does not ask for a finalizer of a Service that is being deleted",
      input: { service: { ...going, metadata: { ...going.metadata, finalizers: [] } } },
      want: {},
    },
    { it: "keeps what a Service left that is gone", input: { service: bare, isGone: true }, want: { isGone: true } },
    {
      it: "keeps the load balancer of a previous provider",
      input: { service: guarded, previous: { provider: "old", loadBalancerID: "x" } },
      want: {},
    },
  ])("$it", ({ input, want }) => {
    expect(plan({ ...cleanup, ...input })).toEqual({
      kind: "keep",
      service: input.service,
      isGone: false,
      loadBalancerId: undefined,
      finalizerPatch: undefined,
      meanwhile: undefined,
      ...want,
    });
  });

  test("brings nodes to the load balancer of a Service that is being deleted", () => {
    const newNodes = desired("spec-1", "nodes-2");
    const present = { ...known, service: going };
    const upkeep = wanted({ service: going, present, desired: newNodes });
    expect(plan({ ...cleanup, service: going, loadBalancerId: known.loadBalancerID, upkeep })).toMatchObject({
      kind: "keep",
      meanwhile: { kind: "change", purpose: "update", call: "updateNodes", desired: newNodes },
    });
  });

  test("creates nothing for it", () => {
    expect(plan({ ...cleanup, service: going, upkeep: wanted({ service: going }) })).toMatchObject({
      kind: "keep",
      meanwhile: undefined,
    });
  });
});

describe("plan() of a clean-up after another provider", () => {
  test("takes down first what that one has", () => {
    const previous = { provider: "old", loadBalancerID: undefined };
    expect(plan({ ...cleanup, loadBalancerId: known.loadBalancerID, previous })).toEqual({
      kind: "deletePrevious",
      service: held,
      previous,
    });
  });

  test("passes on the desired state that removes a protection in the cloud", () => {
    expect(plan({ ...cleanup, unprotected: desired() })).toMatchObject({ kind: "delete", unprotected: desired() });
  });
});

describe("plan() of a Service for which nothing can be done", () => {
  test("forgets one that is gone and of which nothing is left", () => {
    expect(plan({ kind: "absent", key: "default/web" })).toEqual({ kind: "forget", key: "default/web" });
  });

  test("does not change one whose provider no longer serves load balancers", () => {
    expect(plan({ kind: "unserved", service: held, why: "it may not" })).toEqual({
      kind: "leave",
      service: held,
      why: "it may not",
    });
  });
});
