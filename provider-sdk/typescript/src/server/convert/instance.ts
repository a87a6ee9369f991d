import type { NodeRef as WireNodeRef } from "@cloudwire/proto/cloudprovider/v1/common";
import {
  type Instance as WireInstance,
  InstanceState as WireInstanceState,
} from "@cloudwire/proto/cloudprovider/v1/instance";
import type { Instance, NodeRef } from "../../definition/instances.ts";
import { fromWireAddresses, toWireAddresses } from "./common.ts";
import type { ProviderIdParts, ProviderIds } from "./provider-ids.ts";

/** A Node as the provider reads it; `parts` is its provider ID taken apart, if it has one. */
export const fromWireNodeRef = (node: WireNodeRef, parts: ProviderIdParts | undefined): NodeRef => ({
  name: node.name,
  ...(node.uid ? { uid: node.uid } : {}),
  ...(parts ? { id: parts.id, providerId: node.providerId } : {}),
  ...(node.createTime ? { createTime: node.createTime } : {}),
  ...(node.systemUuid ? { systemUuid: node.systemUuid } : {}),
  providedNodeIps: node.providedNodeIps,
  addresses: fromWireAddresses(node.addresses),
  labels: node.labels,
  annotations: node.annotations,
});

const wireStates = {
  PENDING: WireInstanceState.PENDING,
  RUNNING: WireInstanceState.RUNNING,
  STOPPING: WireInstanceState.STOPPING,
  STOPPED: WireInstanceState.STOPPED,
  TERMINATING: WireInstanceState.TERMINATING,
} as const;

/** A machine as it travels. `prefix`: the one under which it was asked for, which it keeps for life. */
export const toWireInstance = (instance: Instance, ids: ProviderIds, prefix?: string): WireInstance => ({
  providerId: ids.complete(instance.id, prefix),
  name: instance.name,
  instanceType: instance.type,
  zone: instance.zone,
  region: instance.region,
  addresses: toWireAddresses(instance.addresses),
  state: instance.state === undefined ? WireInstanceState.UNSPECIFIED : wireStates[instance.state],
  stateReason: instance.stateReason ?? "",
  labels: { ...instance.labels },
  podCidrs: instance.podCidrs === undefined ? undefined : { cidrs: [...instance.podCidrs] },
  createTime: instance.createTime,
  revision: instance.revision ?? "",
});
