import type { NodeAddress as WireNodeAddress, NodeRef } from "@cloudwire/proto/cloudprovider/v1/common";
import type { TargetNode } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { PROVIDED_NODE_IP } from "../../api/annotations.ts";
import { TOPOLOGY_ZONE } from "../../api/well-known.ts";
import type { Node, NodeAddress } from "../../api/node.ts";
import { limitsOf } from "./field-rules.ts";
import type { ProviderInfo } from "../model/info.ts";
import { addressTypeToProto, timeToProto } from "./scalars.ts";

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
    createTime: timeToProto(metadata.creationTimestampMs),
    systemUuid: status.nodeInfo.systemUUID,
    providedNodeIps: providedNodeIps(metadata.annotations[PROVIDED_NODE_IP]),
    addresses: addressesToProto(status.addresses),
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
    addresses: addressesToProto(status.addresses),
    ...(zone === undefined || zone === "" ? {} : { zone }),
    labels: pick(metadata.labels, declared.nodeLabelKeys),
  };
}

/**
 * Addresses that the contract does not have room for, or whose type it does not have, are left out: one that some kubelet wrote
 * must not make the provider refuse the call for all nodes.
 */
export function addressesToProto(addresses: readonly NodeAddress[]): WireNodeAddress[] {
  const fitting = addresses.flatMap(({ type, address }) => {
    const wireType = addressTypeToProto(type);
    const fits = address !== "" && Buffer.byteLength(address) <= ADDRESS.maxBytes;
    return wireType !== undefined && fits ? [{ type: wireType, address }] : [];
  });
  return fitting.slice(0, ADDRESSES.maxItems);
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
