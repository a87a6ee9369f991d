import { describe, expect, test } from "vitest";
import { CREATED_MS, ingress, service } from "../../../test/support/builders.ts";
import type { LoadBalancer, LoadBalancerAnswer, Operation } from "../../provider/load-balancer.ts";
import type { Entry } from "./ledger.ts";
import { type Refusal, refusalOf } from "./plan/refusal.ts";
import { isReadNeeded, plan, progressOf, type WantedInput } from "./plan.ts";
import type { Wish } from "./plan/wish.ts";

const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const uid = "uid-default-web";
const vip = ingress({ ip: "192.0.2.1", ipMode: "VIP" });
const fresh = service("web");
const held = service("web", { metadata: { finalizers: [FINALIZER] } });
const edited = service("web", { metadata: { finalizers: [FINALIZER], annotations: { touched: "yes" } } });
const operation: Operation = { id: "op-1", stage: "", progressPercent: undefined, pollAfterMs: 3000, message: "" };

function wish(specFingerprint = "spec-1", nodesFingerprint = "nodes-1", count = 2): Wish {
  const spec: NonNullable<Wish["spec"]> = {
    ports: [],
    ipFamilies: [],
    sourceRanges: undefined,
    externalTrafficPolicy: 0,
    healthCheck: undefined,
    sessionAffinity: undefined,
    requestedIps: [],
    annotations: {},
    nameHint: "",
    tags: {},
  };
  return {
    spec,
    specFingerprint,
    nodes: { fingerprint: nodesFingerprint, count, source: { kind: "inline", nodes: [] } },
  };
}

function loadBalancer(parts: Partial<LoadBalancer> = {}): LoadBalancer {
  return {
    id: "lb-1",
    service: { namespace: "default", name: "web", uid },
    phase: "active",
    ingress: [vip],
    specFingerprint: "spec-1",
    nodesFingerprint: "nodes-1",
    observedFingerprint: "",
    registeredNodes: undefined,
    conditions: [],
    operation: undefined,
    tags: {},
    lockKey: "",
    ...parts,
  };
}

const present = (parts: Partial<LoadBalancer> = {}): LoadBalancerAnswer => ({
  kind: "present",
  loadBalancer: loadBalancer(parts),
  diagnostics: [],
});

const absent: LoadBalancerAnswer = {
  kind: "absent",
  basis: "lookupMiss",
  observeTimeMs: CREATED_MS,
  strong: true,
  witness: { provider: "acme", scopeId: "s", bootId: "b", receivedAtMs: CREATED_MS },
  diagnostics: [],
};

const known: Entry = {
  service: held,
  provider: "acme",
  loadBalancerId: "lb-1",
  spec: wish().spec,
  specFingerprint: "spec-1",
  nodesFingerprint: "nodes-1",
  ingress: [vip],
  pending: undefined,
};
const making: Entry = {
  ...known,
  ingress: undefined,
  pending: { kind: "ensure", operationId: "op-1", pollAfterMs: 3000 },
};
const updating: Entry = { ...known, pending: { kind: "update", operationId: "op-1", pollAfterMs: 3000 } };

function wanted(parts: Partial<WantedInput> = {}): WantedInput {
  return {
    kind: "wanted",
    service: held,
    provider: "acme",
    wish: wish(),
    entry: undefined,
    isAttempted: false,
    observed: undefined,
    unsupported: [],
    refusal: undefined,
    updatesNodes: true,
    ...parts,
  };
}

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
      want: { trigger: "not known to be as wished" },
    },
    {
      it: "that another wish is in force for",
      input: wanted({ observed: present({ specFingerprint: "spec-0" }) }),
      want: {
        trigger: "not known to be as wished",
        standing: { ...known, spec: undefined, specFingerprint: "spec-0" },
      },
    },
    {
      it: "that was left half made by an earlier process",
      input: wanted({ observed: present({ phase: "provisioning", operation }) }),
      want: { trigger: "not known to be as wished" },
    },
    {
      it: "that has failed",
      input: wanted({ observed: present({ phase: "failed" }) }),
      want: { trigger: "not known to be as wished" },
    },
    {
      it: "of a Service that was edited, though the provider is told the same",
      input: wanted({ service: edited, entry: known }),
      want: { trigger: "service changed", loadBalancerId: "lb-1" },
    },
    {
      it: "whose provider is told something else since it declares more",
      input: wanted({ wish: wish("spec-2"), entry: known }),
      want: { trigger: "service changed", loadBalancerId: "lb-1" },
    },
    {
      it: "that is being made for an earlier wish, naming the work under way",
      input: wanted({ service: edited, entry: making }),
      want: { trigger: "service changed", loadBalancerId: "lb-1", operationId: "op-1" },
    },
    {
      it: "that is being made for other nodes",
      input: wanted({ wish: wish("spec-1", "nodes-2"), entry: making }),
      want: { trigger: "nodes changed", loadBalancerId: "lb-1", operationId: "op-1" },
    },
    {
      it: "that vanished while it was being made",
      input: wanted({ entry: making, observed: absent }),
      want: { trigger: "load balancer vanished while it was being made", loadBalancerId: "lb-1", operationId: "op-1" },
    },
    {
      it: "that was made for something else",
      input: wanted({ entry: making, observed: present({ specFingerprint: "spec-0" }) }),
      want: { trigger: "another wish is in force", loadBalancerId: "lb-1", operationId: "op-1" },
    },
    {
      it: "that was made with other nodes",
      input: wanted({ entry: making, observed: present({ nodesFingerprint: "nodes-0" }) }),
      want: { trigger: "another wish is in force", loadBalancerId: "lb-1", operationId: "op-1" },
    },
  ])("$it", ({ input, want }) => {
    expect(plan(input)).toEqual({
      kind: "change",
      service: input.service,
      provider: "acme",
      wish: input.wish,
      purpose: "ensure",
      call: "ensure",
      loadBalancerId: undefined,
      operationId: undefined,
      finalizerPatch: undefined,
      ignored: [],
      standing: input.entry,
      ...want,
    });
  });

  test("and names what the provider leaves out", () => {
    const ignored = { feature: "RequestedIp", field: "spec.loadBalancerIP", message: "m", effect: "ignored" } as const;
    expect(plan(wanted({ unsupported: [ignored] }))).toMatchObject({ kind: "change", ignored: [ignored] });
  });
});

describe("plan() makes the nodes be updated", () => {
  const newNodes = wish("spec-1", "nodes-2");

  test.each([
    {
      it: "by the call for nodes",
      input: wanted({ wish: newNodes, entry: known }),
      call: "updateNodes",
      operationId: undefined,
    },
    {
      it: "by Ensure where the provider has no call for nodes",
      input: wanted({ wish: newNodes, entry: known, updatesNodes: false }),
      call: "ensure",
      operationId: undefined,
    },
    {
      it: "again, while an earlier update is under way",
      input: wanted({ wish: newNodes, entry: updating }),
      call: "updateNodes",
      operationId: "op-1",
    },
    {
      it: "after a restart, when only they differ from what is in force",
      input: wanted({ wish: newNodes, observed: present() }),
      call: "updateNodes",
      operationId: undefined,
    },
  ])("$it", ({ input, call, operationId }) => {
    expect(plan(input)).toEqual({
      kind: "change",
      service: held,
      provider: "acme",
      wish: newNodes,
      purpose: "update",
      call,
      trigger: "nodes changed",
      loadBalancerId: "lb-1",
      operationId,
      finalizerPatch: undefined,
      ignored: [],
      standing: input.entry ?? known,
    });
  });

  test("without repeating what the provider leaves out", () => {
    const ignored = { feature: "RequestedIp", field: "spec.loadBalancerIP", message: "m", effect: "ignored" } as const;
    expect(plan(wanted({ wish: newNodes, entry: known, unsupported: [ignored] }))).toMatchObject({
      purpose: "update",
      ignored: [],
    });
  });
});

describe("plan() asks the cloud for nothing", () => {
  const settled = {
    kind: "settle",
    service: held,
    entry: known,
    finished: undefined,
    nodeCount: 2,
    finalizerPatch: undefined,
  };

  test.each([
    { it: "when nothing has changed", input: wanted({ entry: known }), want: settled },
    { it: "after a restart, when what is in force is the wish", input: wanted({ observed: present() }), want: settled },
    {
      it: "when the load balancer being made is ready",
      input: wanted({ entry: making, observed: present() }),
      want: { ...settled, finished: "ensure" },
    },
    {
      it: "when the nodes being updated are in force",
      input: wanted({ entry: updating, observed: present() }),
      want: { ...settled, finished: "update" },
    },
    {
      it: "when a provider that keeps no fingerprints says it is ready",
      input: wanted({ entry: making, observed: present({ specFingerprint: "", nodesFingerprint: "" }) }),
      want: { ...settled, finished: "ensure" },
    },
    {
      it: "and puts the finalizer on again that somebody took off",
      input: wanted({ service: fresh, entry: known }),
      want: {
        ...settled,
        service: fresh,
        entry: { ...known, service: fresh },
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
        entry: making,
        observed: present({ phase: "provisioning", operation: { ...operation, id: "op-2" } }),
      }),
      want: { ...making, pending: { kind: "ensure", operationId: "op-2", pollAfterMs: 3000 } },
    },
    {
      it: "while its nodes are being changed, and keeps its address",
      input: wanted({ entry: updating, observed: present({ phase: "updating", operation }) }),
      want: updating,
    },
    { it: "before the answer of a poll", input: wanted({ entry: making }), want: making },
  ])("but waits $it", ({ input, want }) => {
    expect(plan(input)).toEqual({ kind: "wait", service: held, entry: want });
  });

  test("when the provider gives up on the load balancer being made", () => {
    const conditions = [
      { type: "Ready", status: "False", reason: "NoCapacity", message: "zone full", lastTransitionTimeMs: undefined },
      { type: "Named", status: "True", reason: "", message: "", lastTransitionTimeMs: undefined },
    ] as const;
    expect(plan(wanted({ entry: making, observed: present({ phase: "failed", conditions }) }))).toEqual({
      kind: "fail",
      message: "the provider says that load balancer lb-1 has failed: Ready: NoCapacity: zone full",
    });
  });

  test("when the Service asks for what must not be left out", () => {
    const refused = {
      feature: "SourceRanges",
      field: "spec.loadBalancerSourceRanges",
      message: "open to all",
      effect: "refused",
    } as const;
    const ignored = { feature: "RequestedIp", field: "spec.loadBalancerIP", message: "m", effect: "ignored" } as const;
    const other = {
      feature: "Protocols",
      field: "spec.ports[0].protocol",
      message: "no SCTP",
      effect: "refused",
    } as const;
    expect(refusalOf([refused, ignored, other])).toEqual({
      message: "spec.loadBalancerSourceRanges: open to all; spec.ports[0].protocol: no SCTP",
      retryAfterMs: undefined,
    });
    expect(refusalOf([ignored])).toBeUndefined();
  });
});

describe("plan() of a wish that is refused", () => {
  const refusal: Refusal = { message: "no", retryAfterMs: 5 };
  const spec1: Wish = { ...wish("spec-1", "nodes-2"), spec: known.spec };
  const refused = (parts: Partial<WantedInput>): WantedInput =>
    wanted({ service: edited, wish: wish("spec-2", "nodes-2"), refusal, ...parts });

  test.each([
    { it: "does nothing when there is no load balancer", input: refused({ observed: absent }), want: undefined },
    {
      it: "brings nodes to what stands, by the wish that was accepted",
      input: refused({ entry: known }),
      want: { kind: "change", service: held, wish: spec1, purpose: "update", call: "updateNodes", ignored: [] },
    },
    {
      it: "brings them by Ensure where there is no call for nodes",
      input: refused({ entry: known, updatesNodes: false }),
      want: { kind: "change", service: held, wish: spec1, purpose: "update", call: "ensure" },
    },
    {
      it: "brings nodes to what an earlier process left",
      input: refused({ observed: present() }),
      want: { kind: "change", wish: { ...spec1, spec: undefined }, purpose: "update", call: "updateNodes" },
    },
    {
      it: "leaves that alone where it cannot be asked for without its wish",
      input: refused({ observed: present(), updatesNodes: false }),
      want: { kind: "settle", entry: { specFingerprint: "spec-1", nodesFingerprint: "nodes-1" } },
    },
    {
      it: "goes on waiting for what was accepted before",
      input: refused({ entry: making, wish: wish("spec-2"), observed: present({ phase: "provisioning", operation }) }),
      want: { kind: "wait", entry: { specFingerprint: "spec-1" } },
    },
  ])("$it", ({ input, want }) => {
    expect(plan(input)).toMatchObject({ kind: "refuse", refusal, meanwhile: want });
  });
});

describe("plan() of a clean-up", () => {
  const cleanup = {
    kind: "cleanup",
    service: held,
    isGone: false,
    provider: "acme",
    entry: undefined,
    deletion: undefined,
  } as const;

  test.each([
    {
      it: "deletes what it knows nothing of",
      input: cleanup,
      want: { loadBalancerId: undefined, operationId: undefined, announce: true },
    },
    {
      it: "names the load balancer it knows",
      input: { ...cleanup, entry: known },
      want: { loadBalancerId: "lb-1", operationId: undefined, announce: true },
    },
    {
      it: "asks again after a deletion under way, without a word",
      input: { ...cleanup, entry: known, deletion: { service: held, provider: "acme", operationId: "op-9" } },
      want: { loadBalancerId: "lb-1", operationId: "op-9", announce: false },
    },
  ])("$it", ({ input, want }) => {
    expect(plan(input)).toEqual({
      kind: "delete",
      service: held,
      isGone: false,
      provider: "acme",
      patch: { metadata: { uid, "$deleteFromPrimitiveList/finalizers": [FINALIZER] } },
      ...want,
    });
  });

  test("patches nothing of a Service that is gone", () => {
    expect(plan({ ...cleanup, isGone: true, entry: known })).toMatchObject({
      kind: "delete",
      isGone: true,
      patch: undefined,
    });
  });
});

describe("isReadNeeded()", () => {
  test.each([
    { it: "a new Service", input: { service: fresh, wish: wish(), entry: undefined }, want: false },
    { it: "a Service of an earlier process", input: { service: held, wish: wish(), entry: undefined }, want: true },
    {
      it: "a Service whose load balancer this process has asked for",
      input: { service: held, wish: wish(), entry: undefined, isAttempted: true },
      want: false,
    },
    {
      it: "such a Service, once its wish is refused and what stands must be known",
      input: {
        service: held,
        wish: wish(),
        entry: undefined,
        isAttempted: true,
        refusal: { message: "no", retryAfterMs: undefined },
      },
      want: true,
    },
    { it: "a settled Service", input: { service: held, wish: wish(), entry: known }, want: false },
    { it: "work under way", input: { service: held, wish: wish(), entry: making }, want: true },
    {
      it: "work under way for an earlier Service",
      input: { service: edited, wish: wish(), entry: making },
      want: false,
    },
    {
      it: "work under way for another wish",
      input: { service: held, wish: wish("spec-2"), entry: making },
      want: false,
    },
    {
      it: "work under way for other nodes",
      input: { service: held, wish: wish("spec-1", "nodes-2"), entry: updating },
      want: false,
    },
  ])("is $want for $it", ({ input, want }) => {
    expect(isReadNeeded({ isAttempted: false, refusal: undefined, ...input })).toBe(want);
  });
});

describe("progressOf()", () => {
  const change = { service: held, provider: "acme", wish: wish(), purpose: "ensure" } as const;

  test.each([
    { it: "an active load balancer", given: {}, want: { kind: "done", entry: known } },
    {
      it: "a load balancer of unknown phase",
      given: { phase: "unknown" as const },
      want: { kind: "pending", entry: { ...making, pending: { kind: "ensure", operationId: "", pollAfterMs: 5000 } } },
    },
    {
      it: "one whose addresses are not told",
      given: { ingress: undefined },
      want: { kind: "done", entry: { ...known, ingress: undefined } },
    },
    {
      it: "one that serves while it is changed",
      given: { phase: "updating" as const, operation },
      want: { kind: "pending", entry: { ...known, pending: making.pending } },
    },
    {
      it: "one without address yet",
      given: { ingress: [] },
      want: { kind: "done", entry: { ...known, ingress: [] } },
    },
    {
      it: "one that serves while work goes on",
      given: { phase: "active" as const, operation },
      want: { kind: "pending", entry: { ...known, pending: making.pending } },
    },
    {
      it: "one being made, whose address nothing answers at yet",
      given: { phase: "provisioning" as const, operation },
      want: { kind: "pending", entry: making },
    },
    {
      it: "one being made, without a word when to ask again",
      given: { phase: "provisioning" as const },
      want: { kind: "pending", entry: { ...making, pending: { kind: "ensure", operationId: "", pollAfterMs: 5000 } } },
    },
    {
      it: "one still being deleted for an earlier wish",
      given: { phase: "deleting" as const },
      want: { kind: "pending", entry: { ...making, pending: { kind: "ensure", operationId: "", pollAfterMs: 5000 } } },
    },
    {
      it: "one that has failed",
      given: { phase: "failed" as const },
      want: { kind: "failed", message: "the provider says that load balancer lb-1 has failed" },
    },
  ])("tells of $it", ({ given, want }) => {
    expect(progressOf(change, loadBalancer(given))).toEqual(want);
  });

  test("remembers what was sent, not what the provider echoes", () => {
    const echoed = loadBalancer({ specFingerprint: "", nodesFingerprint: "" });
    expect(progressOf(change, echoed)).toEqual({ kind: "done", entry: known });
  });
});
