import type { ConditionStatus, KubeObject, ObjectReference } from "./meta.ts";

/** core/v1 Node, trimmed because thousands are cached: images, capacity and managedFields are three quarters of a Node. */
export interface Node extends KubeObject {
  readonly spec: NodeSpec;
  readonly status: NodeStatus;
}

export interface NodeSpec {
  readonly podCIDR: string;
  /** Canonical, except for a text that is not a CIDR. */
  readonly podCIDRs: readonly string[];
  /** `<scheme>://<id>`; write-once on the server. */
  readonly providerID: string;
  readonly unschedulable: boolean;
  readonly taints: readonly Taint[];
}

export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: TaintEffect;
  /** Set by the node lifecycle controllers on NoExecute taints; kept because `spec.taints` is written whole. */
  readonly timeAddedMs: number | undefined;
}

/** "NoSchedule", "PreferNoSchedule" or "NoExecute". */
export type TaintEffect = string;

export interface NodeStatus {
  readonly conditions: readonly NodeCondition[];
  readonly addresses: readonly NodeAddress[];
  readonly nodeInfo: NodeSystemInfo;
}

/** Without heartbeat time and message, which change often and are not read. */
export interface NodeCondition {
  readonly type: NodeConditionType;
  readonly status: ConditionStatus;
  readonly lastTransitionTimeMs: number;
  readonly reason: string;
}

/** Names of k8s.io/api/core/v1 v0.36.3. */
export const READY = "Ready" as const;
export const NETWORK_UNAVAILABLE = "NetworkUnavailable" as const;

/** Other conditions are not kept. */
export type NodeConditionType = typeof READY | typeof NETWORK_UNAVAILABLE;

export function isConditionRead(type: string): type is NodeConditionType {
  return type === READY || type === NETWORK_UNAVAILABLE;
}

export interface NodeAddress {
  readonly type: NodeAddressType;
  readonly address: string;
}

/** "Hostname", "InternalIP", "ExternalIP", "InternalDNS" or "ExternalDNS". */
export type NodeAddressType = string;

export interface NodeSystemInfo {
  readonly systemUUID: string;
}

/** Without resourceVersion, as upstream's controllers build it. */
export function nodeReference(node: KubeObject): ObjectReference {
  return { apiVersion: "v1", kind: "Node", namespace: "", name: node.metadata.name, uid: node.metadata.uid };
}
