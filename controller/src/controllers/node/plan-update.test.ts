import { describe, expect, test } from "vitest";
import { CREATED_MS, instance, type NodeParts, node as bareNode } from "../../../test/support/builders.ts";
import type { Instance } from "../../provider/model/instance.ts";
import type { Node } from "../../api/node.ts";
import { labelPolicies } from "./plan/labels.ts";
import { type Input, type InstanceByName, type Plan, plan, type ObservedInstance } from "./plan.ts";

/** With an address, as by the kubelet's --node-ip. */
const node = (name: string, parts: NodeParts = {}): Node =>
  bareNode(name, { ...parts, status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }], ...parts.status } });

const UNASKED: InstanceByName = { kind: "notQueried" };

describe("plan() of an initialized node", () => {
  const address = { type: "InternalIP", address: "10.0.0.1" };

  function update(
    given: Input["node"],
    observed: ObservedInstance | undefined,
    duplicates: readonly string[] = [],
  ): Plan {
    return plan({ kind: "initialized", node: given, observed, duplicates }, CREATED_MS, {
      labels: labelPolicies("warn"),
      addressTimeoutMs: 0,
    });
  }

  function seen(parts: Partial<Instance> = {}, byName = UNASKED): ObservedInstance {
    return { instance: instance(parts), byName };
  }

  test.each<{
    readonly it: string;
    readonly given: Input["node"];
    readonly observed: ObservedInstance | undefined;
    readonly want: object;
  }>([
    {
      it: "writes the new label names after the old ones while nothing is known",
      given: node("node-a", { metadata: { labels: { "failure-domain.beta.kubernetes.io/zone": "a" } } }),
      observed: undefined,
      want: {
        labelsPatch: {
          metadata: { uid: "uid-node-a", resourceVersion: "1", labels: { "topology.kubernetes.io/zone": "a" } },
        },
      },
    },
    {
      it: "writes the new label names after the old ones while the machine is absent",
      given: node("node-a", { metadata: { labels: { "failure-domain.beta.kubernetes.io/zone": "a" } } }),
      observed: { instance: undefined, byName: UNASKED },
      want: {
        labelsPatch: {
          metadata: { uid: "uid-node-a", resourceVersion: "1", labels: { "topology.kubernetes.io/zone": "a" } },
        },
      },
    },
    {
      it: "lets addresses, instance type and further labels follow the cloud",
      given: node("node-a", {
        metadata: {
          labels: { rack: "r1", own: "kept" },
          annotations: { "cloudwire.dev/cloud-labels": "rack", other: "kept" },
        },
        status: { addresses: [{ type: "InternalIP", address: "10.9.9.9" }] },
      }),
      observed: seen({ addresses: [address], instanceType: "large", labels: { rack: "r2", slot: "s1" } }),
      want: {
        statusPatch: {
          metadata: { uid: "uid-node-a" },
          status: { addresses: [address, { $patch: "replace" }] },
        },
        labelsPatch: {
          metadata: {
            uid: "uid-node-a",
            resourceVersion: "1",
            labels: {
              "beta.kubernetes.io/instance-type": "large",
              "node.kubernetes.io/instance-type": "large",
              rack: "r2",
              slot: "s1",
            },
            annotations: { "cloudwire.dev/cloud-labels": "rack,slot" },
          },
        },
      },
    },
    {
      it: "sends no annotation with a label that is on record",
      given: node("node-a", {
        metadata: { labels: { rack: "r1" }, annotations: { "cloudwire.dev/cloud-labels": "rack" } },
      }),
      observed: seen({ labels: { rack: "r2" } }),
      want: {
        labelsPatch: { metadata: { uid: "uid-node-a", resourceVersion: "1", labels: { rack: "r2" } } },
      },
    },
    {
      it: "leaves the addresses alone that no longer fit the annotation",
      given: node("node-a", { metadata: { annotations: { "alpha.kubernetes.io/provided-node-ip": "10.0.0.7" } } }),
      observed: seen({ addresses: [address] }),
      want: {
        differences: [
          {
            field: "addresses",
            message:
              "annotation alpha.kubernetes.io/provided-node-ip: 10.0.0.7 is not an address of this instance in the cloud (its addresses: InternalIP 10.0.0.1)",
          },
        ],
      },
    },
    {
      it: "passes on which labels no node gets",
      given: node("node-a"),
      observed: seen({ labels: { "k8s.io/x": "v" } }),
      want: { droppedLabels: [{ key: "k8s.io/x", value: "v", reason: "reserved" }] },
    },
    { it: "does nothing when nothing is known", given: node("node-a"), observed: undefined, want: {} },
    {
      it: "does nothing when the machine is gone",
      given: node("node-a", { spec: { providerID: "acme://1" }, status: { addresses: [address] } }),
      observed: { instance: undefined, byName: { kind: "queried", providerId: undefined } },
      want: {},
    },
    {
      it: "does nothing when nothing differs",
      given: node("node-a", { spec: { providerID: "acme://1" }, status: { addresses: [address] } }),
      observed: seen({ addresses: [address] }),
      want: {},
    },
    {
      it: "does nothing when the cloud names no address",
      given: node("node-a", { status: { addresses: [address] } }),
      observed: seen({ addresses: [] }),
      want: {},
    },
  ])("$it", ({ given, observed, want }) => {
    expect(update(given, observed)).toEqual({
      kind: "update",
      node: given,
      labelsPatch: undefined,
      statusPatch: undefined,
      differences: [],
      droppedLabels: [],
      hasNoAddress: false,
      ...want,
    });
  });

  test("reports every difference at once, the gravest first", () => {
    const given = node("node-a", {
      spec: { providerID: "acme://1" },
      metadata: {
        labels: { "failure-domain.beta.kubernetes.io/zone": "a", "topology.kubernetes.io/zone": "a" },
        annotations: { "alpha.kubernetes.io/provided-node-ip": "10.0.0.7" },
      },
    });
    const differences = update(given, seen({ addresses: [address], zone: "b" }), ["node-b"]);
    expect(differences).toMatchObject({
      differences: [{ field: "providerID" }, { field: "addresses" }, { field: "zone" }],
    });
  });

  test.each([
    { it: "the machine of its name", observed: seen({}, { kind: "queried", providerId: "acme://2" }), duplicates: [] },
    { it: "what the cloud answers", observed: seen({ providerId: "acme://2" }), duplicates: [] },
    { it: "another node", observed: undefined, duplicates: ["node-b"] },
    {
      it: "the machine of its name when its own is absent",
      observed: { instance: undefined, byName: { kind: "queried", providerId: "acme://2" } } as const,
      duplicates: [],
    },
  ])("reports the provider ID because of $it, and changes nothing", ({ observed, duplicates }) => {
    const given = node("node-a", { spec: { providerID: "acme://1" } });
    expect(update(given, observed, duplicates)).toMatchObject({
      labelsPatch: undefined,
      statusPatch: undefined,
      differences: [{ field: "providerID" }],
    });
  });

  test("believes an ID while the machine of its name is not asked for", () => {
    const given = node("node-a", { spec: { providerID: "acme://1" } });
    expect(update(given, seen({ name: "otherwise" }))).toMatchObject({ differences: [] });
  });
});
