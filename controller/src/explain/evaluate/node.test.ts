import { describe, expect, test } from "vitest";
import { node, taint } from "../../../test/support/builders.ts";
import { failedWith, remembered } from "../../../test/support/explain/explain-builders.ts";
import { idleProvider, info } from "../../../test/support/provider/provider-builders.ts";
import { UNINITIALIZED } from "../../api/well-known.ts";
import { ambiguousNodeOwnerError, contractError, unknownOwnerError } from "../../provider/model/errors.ts";
import type { NodeOwner } from "../../provider/model/provider.ts";
import { RetryAfterError } from "../../util/errors.ts";
import { cause } from "../reasons/reasons.ts";
import { type NodeFacts, circuitBreakersOf, evaluateNode } from "./node.ts";

const declared = info();
const OWNED: NodeOwner = { kind: "owned", provider: idleProvider("east", declared), info: declared };

const waiting = node("w1", { spec: { taints: [taint(UNINITIALIZED)] } });
const ready = node("w1", { spec: { providerID: "acme://1" } });
const notReady = node("w1", {
  spec: { providerID: "acme://1" },
  status: { conditions: [{ type: "Ready", status: "Unknown", lastTransitionTimeMs: 0, reason: "" }] },
});

const unrouted = node("w1", {
  spec: { providerID: "acme://1" },
  status: {
    conditions: [{ type: "NetworkUnavailable", status: "True", lastTransitionTimeMs: 0, reason: "NoRouteCreated" }],
  },
});

function evaluated(facts: Partial<NodeFacts>) {
  const rest = { node: waiting, owner: OWNED, troubles: [], initialization: undefined, lifecycle: undefined };
  return evaluateNode({ ...rest, ...facts });
}

/** As cloud-node throws it. */
function refused(reason: string, message: string, from?: Error): Error {
  const why = { reason, message };
  return Object.assign(new Error(`initialize node w1: ${message}`, { cause: from }), { code: "NODE", why });
}

function held(reason: string) {
  return remembered({ kind: "requeue_after", delayMs: 1000, why: { reason, message: "so it is" } });
}

describe("evaluateNode()", () => {
  test.each<{ what: string; facts: Partial<NodeFacts>; state: string; reasons: readonly string[] }>([
    { what: "is being initialized", facts: {}, state: "progressing", reasons: [] },
    {
      what: "has no owner",
      facts: { owner: { kind: "unowned", why: "no provider has the prefix of other://1" } },
      state: "unmanaged",
      reasons: ["NodeUnowned"],
    },
    {
      what: "could be of several",
      facts: { owner: { kind: "undecided", error: ambiguousNodeOwnerError("w1", "both match", ["east", "west"]) } },
      state: "blocked",
      reasons: ["NodeOwnerAmbiguous"],
    },
    {
      what: "may be of one that has not answered",
      facts: { owner: { kind: "undecided", error: unknownOwnerError("west is silent", false) } },
      state: "waiting",
      reasons: ["OwnerUnknown"],
    },
    {
      what: "has a provider that is away",
      facts: {
        troubles: [cause("ProviderUnavailable")],
        initialization: failedWith(contractError("CLOUD_TIMEOUT", "x")),
      },
      state: "waiting",
      reasons: ["ProviderUnavailable", "CloudUnavailable"],
    },
    {
      what: "has a machine that the cloud does not know",
      facts: { initialization: failedWith(refused("absent", "the cloud knows no machine")) },
      state: "blocked",
      reasons: ["InstanceNotFound"],
    },
    {
      what: "has a machine that the cloud does not show yet",
      facts: { initialization: failedWith(refused("notSeenYet", "the cloud knows no machine")) },
      state: "waiting",
      reasons: ["InstanceNotVisibleYet"],
    },
    {
      what: "wants an address that its machine does not have",
      facts: { initialization: failedWith(refused("addresses", "10.0.0.9 is not among 10.0.0.1")) },
      state: "blocked",
      reasons: ["ProvidedNodeIPMismatch"],
    },
    {
      what: "has a malformed provider ID",
      facts: {
        initialization: failedWith(refused("providerID", "bad", contractError("PROVIDER_ID_MALFORMED", "bad"))),
      },
      state: "blocked",
      reasons: ["InvalidProviderID"],
    },
    {
      what: "has a name that several machines have",
      facts: { initialization: failedWith(refused("providerID", "two", contractError("AMBIGUOUS_NAME", "two"))) },
      state: "blocked",
      reasons: ["NodeOwnerAmbiguous"],
    },
    {
      what: "waits for a cloud that throttles",
      facts: { initialization: failedWith(refused("provider", "slow", contractError("RATE_LIMITED", "slow"))) },
      state: "waiting",
      reasons: ["Throttled"],
    },
    {
      what: "waits in line for a call",
      facts: {
        initialization: failedWith(
          refused("provider", "slow", contractError("RATE_LIMITED", "slow", { isClientThrottled: true })),
        ),
      },
      state: "waiting",
      reasons: ["ClientThrottled"],
    },
    {
      what: "has a provider without credentials",
      facts: {
        initialization: failedWith(refused("provider", "no", contractError("CLOUD_CREDENTIALS_INVALID", "no"))),
      },
      state: "blocked",
      reasons: ["InvalidCredentials"],
    },
    {
      what: "gets no answer that says anything",
      facts: { initialization: failedWith(contractError("NOT_YET_CONSISTENT", "too new")) },
      state: "waiting",
      reasons: ["OutcomeUnknown"],
    },
    {
      what: "met a fault",
      facts: { initialization: failedWith(new TypeError("x is undefined")) },
      state: "waiting",
      reasons: ["InternalError"],
    },
    {
      what: "is observed",
      facts: { initialization: remembered({ kind: "planned" }) },
      state: "unmanaged",
      reasons: ["ObserveMode"],
    },
    { what: "is well", facts: { node: ready }, state: "ok", reasons: [] },
    {
      what: "is well while its provider is away",
      facts: { node: ready, troubles: [cause("ProviderUnavailable")], lifecycle: held("tooManyNodeDeletions") },
      state: "ok",
      reasons: [],
    },
    {
      what: "differs from what its cloud says",
      facts: { node: ready, initialization: held("differs") },
      state: "blocked",
      reasons: ["NodeDiffersFromCloud"],
    },
    { what: "is not Ready", facts: { node: notReady }, state: "ok", reasons: [] },
    { what: "has no route", facts: { node: unrouted }, state: "waiting", reasons: ["RouteMissing"] },
    {
      what: "is not Ready for an unknown reason",
      facts: { node: notReady, troubles: [cause("ProviderUnavailable")] },
      state: "waiting",
      reasons: ["ProviderUnavailable"],
    },
    {
      what: "waits for its third absence",
      facts: { node: notReady, lifecycle: held("confirming") },
      state: "waiting",
      reasons: ["DeletionConfirming"],
    },
    {
      what: "is reported deleted by an untrusted provider",
      facts: { node: notReady, lifecycle: held("providerUntrusted"), troubles: [cause("ProviderScopeChanged")] },
      state: "waiting",
      reasons: ["DeletionProviderUntrusted"],
    },
    {
      what: "is blocked by the circuit breaker",
      facts: { node: notReady, lifecycle: held("tooManyNodeDeletions") },
      state: "blocked",
      reasons: ["TooManyNodeDeletions"],
    },
    {
      what: "has a machine of which nothing is known",
      facts: { node: notReady, lifecycle: held("unknown") },
      state: "waiting",
      reasons: ["InstanceStateUnknown"],
    },
    {
      what: "has no provider ID, and no instance of its name (case N-1)",
      facts: { node: notReady, lifecycle: held("noProviderID") },
      state: "blocked",
      reasons: ["NodeNotIdentified"],
    },
    {
      what: "is not initialized, and has no instance of its name (case N-1)",
      facts: {
        node: node("w1", { spec: { taints: [taint(UNINITIALIZED)] }, status: notReady.status }),
        initialization: failedWith(refused("absent", "the cloud knows no machine")),
        lifecycle: held("noProviderID"),
      },
      state: "blocked",
      reasons: ["InstanceNotFound", "NodeNotIdentified"],
    },
    {
      what: "is protected from deletion (case N-8)",
      facts: { node: notReady, lifecycle: held("deletionProtected") },
      state: "blocked",
      reasons: ["NodeDeletionProtected"],
    },
    {
      what: "has a provider that does not own its instance (case N-9)",
      facts: { node: notReady, lifecycle: held("notOwned") },
      state: "unmanaged",
      reasons: ["NodeUnowned"],
    },
    {
      what: "is not Ready and has no owner",
      facts: {
        node: notReady,
        owner: { kind: "unowned", why: "no provider has the prefix of other://1" },
        lifecycle: held("notOwned"),
      },
      state: "unmanaged",
      reasons: ["NodeUnowned"],
    },
    {
      what: "is being deleted",
      facts: { node: node("w1", { metadata: { deletionTimestampMs: 1 } }) },
      state: "progressing",
      reasons: [],
    },
    {
      what: "is held by another program",
      facts: { node: node("w1", { metadata: { deletionTimestampMs: 1, finalizers: ["example.com/x"] } }) },
      state: "blocked",
      reasons: ["WaitingForFinalizers"],
    },
  ])("of one that $what", ({ facts, state, reasons }) => {
    const { causes, ...rest } = evaluated(facts);
    expect({ state: rest.state, reasons: causes.map(({ reason }) => reason) }).toEqual({ state, reasons });
  });

  test("explains how to approve the deletion of the Node", () => {
    const { causes, desired } = evaluated({ node: notReady, lifecycle: held("tooManyNodeDeletions") });
    expect(causes.map(({ remedy }) => remedy)).toEqual([
      expect.stringContaining("kubectl annotate node w1 cloudwire.dev/approve-deletion=true"),
    ]);
    expect(desired).toEqual([
      { description: `taint ${UNINITIALIZED} removed`, state: "met" },
      { description: "Node deleted, because its instance is reported as deleted", state: "unmet" },
    ]);
  });

  test("says what a Node still lacks", () => {
    const error = new RetryAfterError("wait", 10, { cause: refused("addresses", "10.0.0.9 is not there") });
    expect(evaluated({ initialization: failedWith(error) })).toMatchObject({
      summary: "Node w1: 10.0.0.9 is not there.",
      desired: [
        { description: `taint ${UNINITIALIZED} removed`, state: "unmet" },
        { description: "provider ID", state: "unmet" },
      ],
    });
  });
});

describe("circuit breakers", () => {
  const held = (provider: string, reason: string, message = "so it is") => ({ provider, why: { reason, message } });

  test.each([
    ["nothing without Nodes", [], {}],
    [
      "open if it blocks one Node, with the number of absent instances",
      [held("east", "confirming"), held("east", "tooManyNodeDeletions", "2 of 3 Nodes"), held("east", "tooNew")],
      { east: { open: true, absentNodes: 3, message: "2 of 3 Nodes" } },
    ],
    [
      "of each provider by itself",
      [held("east", "tooManyNodeDeletions", "all of them"), held("west", "providerUntrusted")],
      { east: { open: true, absentNodes: 1, message: "all of them" }, west: { open: false, absentNodes: 1 } },
    ],
    [
      "nothing of machines of which nothing is known, and of Nodes that are kept on purpose",
      ["unknown", "notOwned", "noProviderID", "deletionProtected", "of another kind"].map((why) => held("east", why)),
      {},
    ],
  ])("circuitBreakersOf() returns %s", (_what, nodes, wanted) => {
    expect(Object.fromEntries(circuitBreakersOf(nodes))).toEqual(wanted);
  });
});
