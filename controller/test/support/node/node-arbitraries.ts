import fc from "fast-check";
import { APPROVE_DELETION } from "../../../src/api/annotations.ts";
import { NETWORK_UNAVAILABLE, type Node, READY } from "../../../src/api/node.ts";
import { SHUTDOWN, TO_BE_DELETED_BY_CLUSTER_AUTOSCALER, UNINITIALIZED } from "../../../src/api/well-known.ts";
import { node as nodeOf, taint } from "../builders.ts";

const READINESS = fc.record({
  type: fc.constant(READY),
  status: fc.constantFrom("True", "False", "Unknown"),
  lastTransitionTimeMs: fc.constantFrom(1000, 2000),
  reason: fc.constantFrom("KubeletReady", "NodeStatusUnknown"),
});
const NETWORK = fc.record({
  type: fc.constant(NETWORK_UNAVAILABLE),
  status: fc.constantFrom("True", "False"),
  lastTransitionTimeMs: fc.constantFrom(1000, 2000),
  reason: fc.constantFrom("RouteCreated", "NoRouteCreated", "CalicoIsUp"),
});

const ADDRESSES = [
  { type: "InternalIP", address: "192.0.2.1" },
  { type: "InternalIP", address: "192.0.2.2" },
  { type: "ExternalIP", address: "198.51.100.1" },
];

/** Nodes of one name that differ in all relevant fields; few values each, so that two of them often agree. */
export const anyNode: fc.Arbitrary<Node> = fc
  .record({
    uid: fc.constantFrom("uid-1", "uid-1", "uid-1", "uid-2"),
    resourceVersion: fc.nat(9).map(String),
    deletionTimestampMs: fc.constantFrom(undefined, undefined, undefined, 5000),
    labels: fc.subarray(["a", "b"]).map((keys) => Object.fromEntries(keys.map((key) => [key, ""]))),
    annotations: fc.dictionary(fc.constantFrom(APPROVE_DELETION, "other"), fc.constantFrom("true", "false")),
    spec: fc.record({
      providerID: fc.constantFrom("", "acme://a", "acme://a", "acme://b"),
      podCIDRs: fc.shuffledSubarray(["10.120.1.0/24", "10.120.2.0/24", "10.9.0.0/24"], { maxLength: 2 }),
      unschedulable: fc.boolean(),
      taints: fc
        .subarray([SHUTDOWN, TO_BE_DELETED_BY_CLUSTER_AUTOSCALER, UNINITIALIZED, "other"])
        .map((keys) => keys.map((key) => taint(key))),
    }),
    addresses: fc.shuffledSubarray(ADDRESSES),
    conditions: fc
      .tuple(fc.option(READINESS, { freq: 9 }), fc.option(NETWORK))
      .map((conditions) => conditions.flatMap((condition) => condition ?? [])),
    systemUUID: fc.constantFrom("EC2A", "EC2B"),
  })
  .map(({ spec, addresses, conditions, systemUUID, ...metadata }) => {
    return nodeOf("a", { metadata, spec, status: { addresses, conditions, nodeInfo: { systemUUID } } });
  });

/** What of a Node may differ from another one. */
export type NodePart = keyof typeof COPY;

const COPY = {
  version: (to: Node, { metadata: { resourceVersion } }: Node) => withMetadata(to, { resourceVersion }),
  deletion: (to: Node, { metadata: { deletionTimestampMs } }: Node) => withMetadata(to, { deletionTimestampMs }),
  labels: (to: Node, { metadata: { labels } }: Node) => withMetadata(to, { labels }),
  annotations: (to: Node, { metadata: { annotations } }: Node) => withMetadata(to, { annotations }),
  providerID: (to: Node, { spec: { providerID } }: Node) => withSpec(to, { providerID }),
  podCIDRs: (to: Node, { spec: { podCIDRs } }: Node) => withSpec(to, { podCIDRs }),
  unschedulable: (to: Node, { spec: { unschedulable } }: Node) => withSpec(to, { unschedulable }),
  taints: (to: Node, { spec: { taints } }: Node) => withSpec(to, { taints }),
  addresses: (to: Node, { status: { addresses } }: Node) => withStatus(to, { addresses }),
  conditions: (to: Node, { status: { conditions } }: Node) => withStatus(to, { conditions }),
  nodeInfo: (to: Node, { status: { nodeInfo } }: Node) => withStatus(to, { nodeInfo }),
} as const;

/** `node`, but for those parts, which are `other`'s. */
export function withParts(node: Node, other: Node, parts: readonly NodePart[]): Node {
  return parts.reduce((copy, part) => COPY[part](copy, other), node);
}

function withMetadata(node: Node, metadata: Partial<Node["metadata"]>): Node {
  return { ...node, metadata: { ...node.metadata, ...metadata } };
}

function withSpec(node: Node, spec: Partial<Node["spec"]>): Node {
  return { ...node, spec: { ...node.spec, ...spec } };
}

function withStatus(node: Node, status: Partial<Node["status"]>): Node {
  return { ...node, status: { ...node.status, ...status } };
}
