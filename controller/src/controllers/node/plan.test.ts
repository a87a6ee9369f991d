import { describe, expect, test } from "vitest";
import { CREATED_MS, instance, type NodeParts, node as bareNode, taint } from "../../../test/support/builders.ts";
import type { Node } from "../../api/node.ts";
import { contractError, ProviderError } from "../../provider/model/errors.ts";
import type { Instance, InstanceResult } from "../../provider/model/instance.ts";
import { labelPolicies } from "./plan/labels.ts";
import { type Input, type InstanceByName, type Plan, plan } from "./plan.ts";

/** With an address, as by the kubelet's --node-ip. */
const node = (name: string, parts: NodeParts = {}): Node =>
  bareNode(name, { ...parts, status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }], ...parts.status } });

const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";
const NOW_MS = CREATED_MS + 5_000;
const WITNESS = { provider: "acme", scopeId: "s", bootId: "b", receivedAtMs: NOW_MS };
const UNASKED: InstanceByName = { kind: "notQueried" };
const tainted = node("node-a", { spec: { taints: [taint(UNINITIALIZED)] } });

function present(parts: Partial<Instance> = {}): InstanceResult {
  return { kind: "present", instance: instance(parts), readTimeMs: NOW_MS, witness: WITNESS };
}

const absent: InstanceResult = {
  kind: "absent",
  basis: "lookupMiss",
  observeTimeMs: NOW_MS,
  strong: true,
  witness: WITNESS,
};
const unknown = (error: ProviderError): InstanceResult => ({ kind: "unknown", error });

const ADDRESS_TIMEOUT_MS = 300_000;

function planned(input: Input, nowMs = NOW_MS): Plan {
  return plan(input, nowMs, { labels: labelPolicies("warn"), addressTimeoutMs: ADDRESS_TIMEOUT_MS });
}

/** Waited long enough for an address, unless `noAddressForMs` says otherwise. */
function waiting(
  given: Input["node"],
  result: InstanceResult,
  byName = UNASKED,
  noAddressForMs = ADDRESS_TIMEOUT_MS,
): Input {
  return { kind: "waiting", node: given, result, byName, noAddressForMs };
}

describe("plan() of a tainted node", () => {
  test("writes addresses, labels and provider ID and lifts only the cloud's taint", () => {
    const other = { ...taint("example.com/own", "NoExecute", "v"), timeAddedMs: CREATED_MS };
    const given = node("node-a", {
      spec: { taints: [taint(UNINITIALIZED, "NoSchedule", "true"), other, taint(UNINITIALIZED, "NoExecute")] },
      status: { addresses: [] },
    });
    const result = present({
      zone: "eu-1a",
      labels: { "kubernetes.io/x": "v", rack: "r1" },
      addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
    });
    expect(planned(waiting(given, result))).toEqual({
      kind: "initialize",
      node: given,
      instance: expect.anything(),
      hasNoAddress: false,
      statusPatch: {
        metadata: { uid: "uid-node-a" },
        status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] },
      },
      nodePatch: {
        metadata: {
          uid: "uid-node-a",
          resourceVersion: "1",
          labels: {
            "failure-domain.beta.kubernetes.io/zone": "eu-1a",
            "topology.kubernetes.io/zone": "eu-1a",
            rack: "r1",
          },
          annotations: { "cloudwire.dev/cloud-labels": "rack" },
        },
        spec: {
          providerID: "acme://1",
          taints: [{ key: "example.com/own", value: "v", effect: "NoExecute", timeAdded: "2026-11-21T11:00:00Z" }],
        },
      },
    });
  });

  test.each([
    {
      it: "removes the list of taints with the last one",
      given: tainted,
      result: present(),
      want: {
        statusPatch: undefined,
        nodePatch: {
          metadata: { uid: "uid-node-a", resourceVersion: "1" },
          spec: { providerID: "acme://1", taints: null },
        },
      },
    },
    {
      it: "leaves a provider ID that is there alone, whatever the cloud calls the machine",
      given: node("node-a", { spec: { providerID: "acme://kubelet", taints: tainted.spec.taints } }),
      result: present(),
      want: { nodePatch: { metadata: { uid: "uid-node-a", resourceVersion: "1" }, spec: { taints: null } } },
    },
    {
      it: "makes do with the node's provider ID when the cloud gives none",
      given: node("node-a", { spec: { providerID: "acme://kubelet", taints: tainted.spec.taints } }),
      result: present({ providerId: "" }),
      want: { nodePatch: { metadata: { uid: "uid-node-a", resourceVersion: "1" }, spec: { taints: null } } },
    },
    {
      it: "writes addresses in the cloud's order, though the node has the same",
      given: node("node-a", {
        spec: tainted.spec,
        status: {
          addresses: [
            { type: "InternalIP", address: "fd00::1" },
            { type: "InternalIP", address: "10.0.0.1" },
          ],
        },
      }),
      result: present({
        addresses: [
          { type: "InternalIP", address: "10.0.0.1" },
          { type: "InternalIP", address: "fd00::1" },
        ],
      }),
      want: {
        statusPatch: {
          metadata: { uid: "uid-node-a" },
          status: {
            addresses: [
              { type: "InternalIP", address: "10.0.0.1" },
              { type: "InternalIP", address: "fd00::1" },
              { $patch: "replace" },
            ],
          },
        },
        nodePatch: expect.anything(),
      },
    },
  ])("$it", ({ given, result, want }) => {
    expect(planned(waiting(given, result))).toEqual({
      kind: "initialize",
      node: given,
      instance: expect.anything(),
      hasNoAddress: false,
      ...want,
    });
  });

  const withId = node("node-a", { spec: { providerID: "acme://9", taints: tainted.spec.taints } });

  test.each([
    {
      it: "does not know a young machine",
      given: tainted,
      result: absent,
      nowMs: CREATED_MS + 14_999,
      reason: "absent",
      message: "the cloud has no instance with the name node-a",
      reportNow: false,
    },
    {
      it: "has not known the machine for a while",
      given: withId,
      result: absent,
      nowMs: CREATED_MS + 15_000,
      reason: "absent",
      message: "the cloud has no instance with the provider ID acme://9",
      reportNow: true,
    },
    {
      it: "knows another machine of the node's name",
      given: withId,
      result: absent,
      byName: { kind: "queried", providerId: "acme://7" } as const,
      reason: "absent",
      message:
        "the cloud has no instance with the provider ID acme://9; the instance with the name node-a has acme://7",
      reportNow: false,
    },
    {
      it: "knows the machine by its name only, for now",
      given: withId,
      result: absent,
      byName: { kind: "queried", providerId: "acme://9" } as const,
      reason: "absent",
      message: "the cloud has no instance with the provider ID acme://9",
      reportNow: false,
    },
    {
      it: "knows no machine of the node's name either",
      given: withId,
      result: absent,
      byName: { kind: "queried", providerId: undefined } as const,
      reason: "absent",
      message: "the cloud has no instance with the provider ID acme://9",
      reportNow: false,
    },
    {
      it: "gives no provider ID",
      given: tainted,
      result: present({ providerId: "" }),
      reason: "providerID",
      message: "the cloud reports no provider ID for the instance",
      reportNow: true,
    },
    {
      it: "gives a zone that is no label",
      given: tainted,
      result: present({ zone: "a b" }),
      reason: "labels",
      message: 'the cloud\'s zone "a b" is not a valid label value',
      reportNow: true,
    },
    {
      it: "does not have the wanted address",
      given: node("node-a", {
        spec: tainted.spec,
        metadata: { annotations: { "alpha.kubernetes.io/provided-node-ip": "10.0.0.7" } },
      }),
      result: present({ addresses: [{ type: "InternalIP", address: "10.0.0.1" }] }),
      reason: "addresses",
      message:
        "annotation alpha.kubernetes.io/provided-node-ip: 10.0.0.7 is not an address of this instance in the cloud (its addresses: InternalIP 10.0.0.1)",
      reportNow: true,
    },
  ])("keeps the taint when the cloud $it", ({ given, result, byName, nowMs = NOW_MS, reason, message, reportNow }) => {
    expect(planned(waiting(given, result, byName), nowMs)).toEqual({
      kind: "notInitialized",
      node: given,
      reason,
      message,
      cause: undefined,
      reportNow,
    });
  });

  test.each([
    {
      it: "a machine with many namesakes",
      error: contractError("AMBIGUOUS_NAME", "2 machines are called node-a"),
      reason: "providerID",
      reportNow: true,
    },
    {
      it: "a malformed provider ID",
      error: contractError("PROVIDER_ID_MALFORMED", "acme://? is no id"),
      reason: "providerID",
      reportNow: true,
    },
    {
      it: "a capability that is not there, which waiting does not fix",
      error: contractError("CAPABILITY_ABSENT", "no instances"),
      reason: "provider",
      reportNow: true,
    },
    {
      it: "denied permission, which is the same for every node",
      error: contractError("CLOUD_PERMISSION_DENIED", "no right"),
      reason: "provider",
      reportNow: false,
    },
    {
      it: "an unreachable cloud",
      error: contractError("CLOUD_UNAVAILABLE", "503"),
      reason: "provider",
      reportNow: false,
    },
    {
      it: "a lost connection",
      error: new ProviderError({ code: "UNAVAILABLE", message: "connection refused" }),
      reason: "provider",
      reportNow: false,
    },
  ])("keeps the taint for the error of $it", ({ error, reason, reportNow }) => {
    expect(planned(waiting(tainted, unknown(error)))).toEqual({
      kind: "notInitialized",
      node: tainted,
      reason,
      message: error.message,
      cause: error,
      reportNow,
    });
  });

  test("leaves a machine of another provider alone", () => {
    expect(planned(waiting(tainted, { kind: "notOwned", message: "gce:// is not mine" }))).toEqual({
      kind: "leave",
      node: tainted,
      message: "gce:// is not mine",
    });
  });
});
