import type { NodeAddress as WireNodeAddress, NodeRef } from "@cloudwire/proto/cloudprovider/v1/common";
import type { TargetNode } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { PROVIDED_NODE_IP } from "../../api/annotations.ts";
import { TOPOLOGY_ZONE } from "../../api/labels.ts";
import type { Node, NodeAddress } from "../../api/node.ts";
import type { ProviderInfo } from "../provider-info.ts";
import { addressTypeToProto } from "./enums.ts";
import { timeToProto } from "./time.ts";

/** Longest list of provided-node-ip that the contract takes: one a family. */
const MAX_PROVIDED_NODE_IPS = 2;

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

/** Addresses of types that the contract does not have are left out. */
export function addressesToProto(addresses: readonly NodeAddress[]): WireNodeAddress[] {
  return addresses.flatMap(({ type, address }) => {
    const wireType = addressTypeToProto(type);
    return wireType === undefined ? [] : [{ type: wireType, address }];
  });
}

/** A hint only: a value that cannot be right is not sent, and is reported where the addresses are planned. */
function providedNodeIps(annotation: string | undefined): string[] {
  const ips = (annotation ?? "").split(",").filter((ip) => ip !== "");
  return ips.length > MAX_PROVIDED_NODE_IPS ? [] : ips;
}

function pick(all: Readonly<Record<string, string>>, keys: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const key of keys) {
    const value = all[key];
    if (value !== undefined) picked[key] = value;
  }
  return picked;
}
