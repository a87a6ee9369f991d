import { describe, expect, test } from "vitest";
import { CREATED_MS, instance, node, taint } from "../../../test/support/builders.ts";
import { contractError, ProviderError } from "../../provider/errors.ts";
import type { Instance, InstanceAnswer } from "../../provider/instance.ts";
import { plan } from "./plan.ts";

const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";
const NOW_MS = CREATED_MS + 5_000;
const WITNESS = { provider: "acme", scopeId: "s", bootId: "b", receivedAtMs: NOW_MS };
const tainted = node("node-a", { spec: { taints: [taint(UNINITIALIZED)] } });

function present(parts: Partial<Instance> = {}): InstanceAnswer {
  return { kind: "present", instance: instance(parts), readTimeMs: NOW_MS, witness: WITNESS };
}

const absent: InstanceAnswer = {
  kind: "absent",
  basis: "lookupMiss",
  observeTimeMs: NOW_MS,
  strong: true,
  witness: WITNESS,
};
const unknown = (error: ProviderError): InstanceAnswer => ({ kind: "unknown", error });

describe("plan() of a tainted node", () => {
  test("writes addresses, labels and provider ID and lifts only the cloud's taint", () => {
    const other = { ...taint("example.com/own", "NoExecute", "v"), timeAddedMs: CREATED_MS };
    const given = node("node-a", {
      spec: { taints: [taint(UNINITIALIZED, "NoSchedule", "true"), other, taint(UNINITIALIZED, "NoExecute")] },
    });
    const answer = present({
      zone: "eu-1a",
      labels: { "kubernetes.io/x": "v" },
      addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
    });
    expect(plan({ node: given, answer }, NOW_MS)).toMatchObject({
      kind: "initialize",
      statusPatch: {
        metadata: { uid: "uid-node-a" },
        status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] },
      },
      nodePatch: {
        metadata: {
          uid: "uid-node-a",
          resourceVersion: "1",
          labels: { "failure-domain.beta.kubernetes.io/zone": "eu-1a", "topology.kubernetes.io/zone": "eu-1a" },
        },
        spec: {
          providerID: "acme://1",
          taints: [{ key: "example.com/own", value: "v", effect: "NoExecute", timeAdded: "2026-11-21T11:00:00Z" }],
        },
      },
      droppedLabels: [{ key: "kubernetes.io/x", value: "v", why: "reserved" }],
    });
  });

  test.each([
    {
      it: "removes the list of taints with the last one",
      given: tainted,
      answer: present(),
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
      answer: present(),
      want: { nodePatch: { metadata: { uid: "uid-node-a", resourceVersion: "1" }, spec: { taints: null } } },
    },
    {
      it: "makes do with the node's provider ID when the cloud gives none",
      given: node("node-a", { spec: { providerID: "acme://kubelet", taints: tainted.spec.taints } }),
      answer: present({ providerId: "" }),
      want: { nodePatch: { metadata: { uid: "uid-node-a", resourceVersion: "1" }, spec: { taints: null } } },
    },
  ])("$it", ({ given, answer, want }) => {
    const planned = plan({ node: given, answer }, NOW_MS);
    expect(planned).toEqual({
      kind: "initialize",
      node: given,
      instance: expect.anything(),
      droppedLabels: [],
      ...want,
    });
  });

  test.each([
    {
      it: "does not know a young machine",
      given: tainted,
      answer: absent,
      nowMs: NOW_MS,
      message: "the cloud knows no machine with the name node-a",
      tell: false,
    },
    {
      it: "has not known the machine for a while",
      given: node("node-a", { spec: { providerID: "acme://9", taints: tainted.spec.taints } }),
      answer: absent,
      nowMs: CREATED_MS + 15_000,
      message: "the cloud knows no machine with the provider ID acme://9",
      tell: true,
    },
    {
      it: "gives no provider ID",
      given: tainted,
      answer: present({ providerId: "" }),
      nowMs: NOW_MS,
      message: "the cloud gave the machine no provider ID",
      tell: true,
    },
    {
      it: "gives a zone that is no label",
      given: tainted,
      answer: present({ zone: "a b" }),
      nowMs: NOW_MS,
      message: 'the cloud\'s zone "a b" cannot be a label value',
      tell: true,
    },
    {
      it: "does not have the wanted address",
      given: node("node-a", {
        spec: tainted.spec,
        metadata: { annotations: { "alpha.kubernetes.io/provided-node-ip": "10.0.0.7" } },
      }),
      answer: present({ addresses: [{ type: "InternalIP", address: "10.0.0.1" }] }),
      nowMs: NOW_MS,
      message:
        "annotation alpha.kubernetes.io/provided-node-ip: the cloud does not know 10.0.0.7 as an address of this machine (it knows: InternalIP 10.0.0.1)",
      tell: true,
    },
  ])("keeps the taint when the cloud $it", ({ given, answer, nowMs, message, tell }) => {
    expect(plan({ node: given, answer }, nowMs)).toEqual({
      kind: "notInitialized",
      node: given,
      message,
      cause: undefined,
      tell,
    });
  });

  test.each([
    {
      it: "a machine with many namesakes",
      error: contractError("AMBIGUOUS_NAME", "2 machines are called node-a"),
      tell: true,
    },
    { it: "a malformed provider ID", error: contractError("PROVIDER_ID_MALFORMED", "acme://? is no id"), tell: true },
    {
      it: "denied permission, which is the same for every node",
      error: contractError("CLOUD_PERMISSION_DENIED", "no right"),
      tell: false,
    },
    { it: "an unreachable cloud", error: contractError("CLOUD_UNAVAILABLE", "503"), tell: false },
    {
      it: "a lost connection",
      error: new ProviderError({ code: "UNAVAILABLE", message: "connection refused" }),
      tell: false,
    },
  ])("keeps the taint for the error of $it", ({ error, tell }) => {
    expect(plan({ node: tainted, answer: unknown(error) }, NOW_MS)).toEqual({
      kind: "notInitialized",
      node: tainted,
      message: error.message,
      cause: error,
      tell,
    });
  });

  test("leaves a machine of another provider alone", () => {
    expect(plan({ node: tainted, answer: { kind: "notMine", message: "gce:// is not mine" } }, NOW_MS)).toEqual({
      kind: "leave",
      node: tainted,
      message: "gce:// is not mine",
    });
  });

  test("does nothing before the cloud was asked", () => {
    expect(plan({ node: tainted, answer: undefined }, NOW_MS)).toEqual({ kind: "nothing" });
  });
});

describe("plan() of an initialised node", () => {
  const address = { type: "InternalIP", address: "10.0.0.1" };

  test.each([
    {
      it: "writes the new label names after the old ones",
      given: node("node-a", { metadata: { labels: { "failure-domain.beta.kubernetes.io/zone": "a" } } }),
      answer: undefined,
      want: { labelsPatch: { metadata: { uid: "uid-node-a", labels: { "topology.kubernetes.io/zone": "a" } } } },
    },
    {
      it: "lets the addresses follow the cloud, and no label",
      given: node("node-a", { status: { addresses: [{ type: "InternalIP", address: "10.9.9.9" }] } }),
      answer: present({ addresses: [address], zone: "elsewhere", labels: { new: "label" } }),
      want: {
        statusPatch: {
          metadata: { uid: "uid-node-a" },
          status: { addresses: [address, { $patch: "replace" }] },
        },
      },
    },
    {
      it: "leaves the addresses alone that no longer fit the annotation",
      given: node("node-a", { metadata: { annotations: { "alpha.kubernetes.io/provided-node-ip": "10.0.0.7" } } }),
      answer: present({ addresses: [address] }),
      want: {
        warning:
          "annotation alpha.kubernetes.io/provided-node-ip: the cloud does not know 10.0.0.7 as an address of this machine (it knows: InternalIP 10.0.0.1)",
      },
    },
  ])("$it", ({ given, answer, want }) => {
    expect(plan({ node: given, answer }, NOW_MS)).toEqual({
      kind: "update",
      node: given,
      labelsPatch: undefined,
      statusPatch: undefined,
      warning: undefined,
      ...want,
    });
  });

  test.each<{ readonly it: string; readonly answer: InstanceAnswer | undefined }>([
    { it: "nothing was asked", answer: undefined },
    { it: "nothing differs", answer: present({ addresses: [address], zone: "elsewhere" }) },
    { it: "the cloud names no address", answer: present({ addresses: [] }) },
    { it: "the machine is gone", answer: absent },
    { it: "the cloud cannot be read", answer: unknown(contractError("CLOUD_UNAVAILABLE", "503")) },
    { it: "the machine is another provider's", answer: { kind: "notMine", message: "" } },
  ])("does nothing when $it", ({ answer }) => {
    expect(plan({ node: node("node-a", { status: { addresses: [address] } }), answer }, NOW_MS)).toEqual({
      kind: "nothing",
    });
  });
});
