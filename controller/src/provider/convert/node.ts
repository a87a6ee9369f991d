import { type NodeAddress as WireNodeAddress, NodeRef as WireNodeRef } from "@cloudwire/proto/cloudprovider/v1/common";
import { TargetNode as WireTargetNode } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { PROVIDED_NODE_IP } from "../../api/annotations.ts";
import { TOPOLOGY_ZONE } from "../../api/well-known.ts";
import type { Node, NodeAddress } from "../../api/node.ts";
import type { NodeSelection } from "../model/client.ts";
import type { ProviderInfo } from "../model/info.ts";
import type { NodeRef } from "../model/instance.ts";
import type { TargetNode } from "../model/load-balancer.ts";
import { brokenRules, limitsOf } from "./methods.ts";
import { addressTypeToProto, canonicalJson, digest, timeToProto } from "./scalars.ts";

const PROVIDED_NODE_IPS = limitsOf("cloudprovider.v1.NodeRef", "provided_node_ips");
/** The same wherever addresses are sent. */
const ADDRESSES = limitsOf("cloudprovider.v1.NodeRef", "addresses");
const ADDRESS = limitsOf("cloudprovider.v1.NodeAddress", "address");

/** The keys of a Node that its provider declared; nothing else of its labels and annotations is ever sent. */
export type DeclaredKeys = Pick<ProviderInfo, "nodeLabelKeys" | "nodeAnnotationKeys">;

/** What a provider gets to find the machine behind `node`. */
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

/** `node` as a target of load balancers; undefined while it has no provider ID. */
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

/** Of the message. */
export function nodeRefBytes(ref: WireNodeRef): number {
  return WireNodeRef.encode(ref).finish().length;
}

export function targetNodeToProto(node: TargetNode): WireTargetNode {
  return { ...node, addresses: addressesToProto(node.addresses), labels: { ...node.labels } };
}

/**
 * Addresses that the contract does not have room for, or whose type it does not have, are left out: one that some kubelet wrote
 * must not make the provider refuse the call for all nodes.
 */
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

/** A hint only: a value that cannot be right is not sent, and is reported where the addresses are planned. */
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

/** Changes with the way fingerprints are made, so that old ones never equal new ones by chance. */
const NODES_PREFIX = "n2-";

/** A node with what a selection needs to know of it; made once for as long as the node stays as it is. */
export interface PreparedTarget {
  readonly node: TargetNode;
  /** Why it must not be sent. */
  readonly faults: readonly string[];
  /** Equal for equal nodes. */
  readonly digest: string;
}

export function prepareTarget(node: TargetNode): PreparedTarget {
  const wire = targetNodeToProto(node);
  const broken = brokenRules("cloudprovider.v1.TargetNode", wire);
  const faults = broken.map(({ field, description }) => `node ${node.name}: ${field}: ${description}`);
  return { node, faults, digest: digest([canonicalJson(WireTargetNode.toJSON(wire))]) };
}

/**
 * `all` as an inline selection. The fingerprint is equal for equal nodes in any order. A node that breaks a rule of the contract,
 * or is the machine of another one too, would make the provider refuse the call of every load balancer, so it is left out.
 */
export function nodeSelection(all: readonly PreparedTarget[]): NodeSelection {
  const leftOut = all.flatMap(({ faults }) => faults);
  const fit = all.filter(({ faults }) => faults.length === 0);
  const owners = firstByProviderId(fit);
  const chosen = fit.filter(({ node }) => {
    const { name, providerId } = owners.get(node.providerId) ?? node;
    if (name !== node.name) leftOut.push(`node ${node.name}: provider_id: ${providerId} is node ${name}'s too`);
    return name === node.name;
  });
  const fingerprint = NODES_PREFIX + digest(chosen.map((target) => target.digest).toSorted());
  const nodes = chosen.map(({ node }) => node);
  const selection = { fingerprint, count: nodes.length, source: { kind: "inline", nodes } } as const;
  return { ...selection, ...(leftOut.length === 0 ? {} : { leftOut }) };
}

/** Of several nodes with one provider ID the first by name, so that the order in which they come does not matter. */
function firstByProviderId(targets: readonly PreparedTarget[]): ReadonlyMap<string, TargetNode> {
  const first = new Map<string, TargetNode>();
  for (const { node } of targets) {
    const known = first.get(node.providerId);
    if (known === undefined || node.name < known.name) first.set(node.providerId, node);
  }
  return first;
}
