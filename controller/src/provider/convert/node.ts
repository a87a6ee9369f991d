import { type NodeAddress as WireNodeAddress, NodeRef as WireNodeRef } from "@cloudwire/proto/cloudprovider/v1/common";
import { TargetNode as WireTargetNode } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { PROVIDED_NODE_IP } from "../../api/annotations.ts";
import { TOPOLOGY_ZONE } from "../../api/well-known.ts";
import type { Node, NodeAddress } from "../../api/node.ts";
import type { NodeSelection } from "../model/client.ts";
import type { ProviderInfo } from "../model/info.ts";
import type { NodeRef } from "../model/instance.ts";
import type { TargetNode } from "../model/load-balancer.ts";
import { instanceKey, isOneProvider, isSameInstance } from "../../util/values/provider-id.ts";
import { RULES, limitsOf } from "./methods.ts";
import { addressTypeToProto, canonicalJson, digest, timeToProto } from "./scalars.ts";

const PROVIDED_NODE_IPS = limitsOf("cloudprovider.v1.NodeRef", "provided_node_ips");
/** The same limit in all messages with addresses. */
const ADDRESSES = limitsOf("cloudprovider.v1.NodeRef", "addresses");
const ADDRESS = limitsOf("cloudprovider.v1.NodeAddress", "address");

/** The labels and annotations that the provider declared; no others are sent. */
export type DeclaredKeys = Pick<ProviderInfo, "nodeLabelKeys" | "nodeAnnotationKeys">;

/** The data by which a provider finds the instance of `node`. */
export function nodeRef(node: Node, declared: DeclaredKeys): NodeRef {
  const { metadata, spec, status } = node;
  return {
    name: metadata.name,
    uid: metadata.uid,
    providerId: spec.providerID,
    createTimeMs: metadata.creationTimestampMs,
    systemUuid: status.nodeInfo.systemUUID,
    providedNodeIps: providedNodeIps(metadata.annotations[PROVIDED_NODE_IP]),
    addresses: fittingAddresses(status.addresses),
    labels: pick(metadata.labels, declared.nodeLabelKeys),
    annotations: pick(metadata.annotations, declared.nodeAnnotationKeys),
  };
}

/** `node` as a target of load balancers; undefined without provider ID. */
export function targetNode(node: Node, declared: DeclaredKeys): TargetNode | undefined {
  const { metadata, spec, status } = node;
  if (spec.providerID === "") return undefined;
  const zone = metadata.labels[TOPOLOGY_ZONE];
  return {
    name: metadata.name,
    providerId: spec.providerID,
    addresses: fittingAddresses(status.addresses),
    ...(zone === undefined || zone === "" ? {} : { zone }),
    labels: pick(metadata.labels, declared.nodeLabelKeys),
  };
}

export function nodeRefToProto({ createTimeMs, ...ref }: NodeRef): WireNodeRef {
  return {
    ...ref,
    createTime: timeToProto(createTimeMs),
    providedNodeIps: [...ref.providedNodeIps],
    addresses: addressesToProto(ref.addresses),
    labels: { ...ref.labels },
    annotations: { ...ref.annotations },
  };
}

export function nodeRefBytes(ref: WireNodeRef): number {
  return WireNodeRef.encode(ref).finish().length;
}

export function targetNodeToProto(node: TargetNode): WireTargetNode {
  return { ...node, addresses: addressesToProto(node.addresses), labels: { ...node.labels } };
}

/** Leaves out addresses that the contract does not allow: one invalid address must not fail the call for all nodes. */
export function fittingAddresses(addresses: readonly NodeAddress[]): readonly NodeAddress[] {
  return addresses
    .filter(({ type, address }) => {
      const fits = address !== "" && Buffer.byteLength(address) <= ADDRESS.maxBytes;
      return fits && addressTypeToProto(type) !== undefined;
    })
    .slice(0, ADDRESSES.maxItems);
}

export function addressesToProto(addresses: readonly NodeAddress[]): WireNodeAddress[] {
  return addresses.flatMap(({ type, address }) => {
    const wireType = addressTypeToProto(type);
    return wireType === undefined ? [] : [{ type: wireType, address }];
  });
}

/** A hint: an invalid value is not sent; it is reported where the addresses are planned. */
function providedNodeIps(annotation: string | undefined): string[] {
  const ips = (annotation ?? "").split(",").filter((ip) => ip !== "");
  const { maxItems, maxBytes } = PROVIDED_NODE_IPS;
  return ips.length > maxItems || ips.some((ip) => Buffer.byteLength(ip) > maxBytes) ? [] : ips;
}

function pick(all: Readonly<Record<string, string>>, keys: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const key of keys) {
    const value = all[key];
    if (value !== undefined) picked[key] = value;
  }
  return picked;
}

/** Changes with the fingerprint's algorithm, so that old and new ones never match. */
const NODES_PREFIX = "n2-";

/** A node with precomputed data for selections. */
export interface PreparedTarget {
  readonly node: TargetNode;
  /** Violations of the contract, for which the node must not be sent. */
  readonly violations: readonly string[];
  /** Equal for equal nodes. */
  readonly digest: string;
  readonly instanceKey: string;
}

export function prepareTarget(node: TargetNode): PreparedTarget {
  const wire = targetNodeToProto(node);
  const broken = RULES.check("cloudprovider.v1.TargetNode", wire);
  const violations = broken.map(({ field, description }) => `node ${node.name}: ${field} ${description}`);
  const key = instanceKey(node.providerId) ?? "";
  return { node, violations, digest: digest([canonicalJson(WireTargetNode.toJSON(wire))]), instanceKey: key };
}

/**
 * `all` as an inline selection with a fingerprint that does not depend on the order. Leaves out nodes that violate the contract or share
 * the instance of another node: the provider would reject the call for every load balancer.
 */
export function nodeSelection(all: readonly PreparedTarget[]): NodeSelection {
  const leftOut = all.flatMap(({ violations }) => violations);
  const fit = all.filter(({ violations }) => violations.length === 0);
  const byKey = Map.groupBy(fit, (target) => target.instanceKey);
  const chosen = fit.filter(({ node, instanceKey: key }) => {
    const { name, providerId } = firstOnInstance(node, byKey.get(key) ?? []);
    if (name !== node.name)
      leftOut.push(`node ${node.name}: provider_id: ${providerId} is also the ID of node ${name}`);
    return name === node.name;
  });
  const fingerprint = NODES_PREFIX + digest(chosen.map((target) => target.digest).toSorted());
  const nodes = chosen.map(({ node }) => node);
  const selection = { fingerprint, count: nodes.length, source: { kind: "inline", nodes } } as const;
  return { ...selection, ...(leftOut.length === 0 ? {} : { leftOut }) };
}

/** Of the nodes on the instance of `node` the first by name, independent of the order. */
function firstOnInstance(node: TargetNode, candidates: readonly PreparedTarget[]): TargetNode {
  let first = node;
  for (const { node: other } of candidates) {
    const { providerId, name } = other;
    const isSame = isOneProvider(providerId, node.providerId) && isSameInstance(providerId, node.providerId);
    if (isSame && name < first.name) first = other;
  }
  return first;
}
