import type { NodeRef as WireNodeRef } from "@cloudwire/proto/cloudprovider/v1/common";
import {
  type Instance as WireInstance,
  InstanceState as WireInstanceState,
} from "@cloudwire/proto/cloudprovider/v1/instance";
import type { Route as WireRoute } from "@cloudwire/proto/cloudprovider/v1/route";
import type { Volume as WireVolume, VolumeRef as WireVolumeRef } from "@cloudwire/proto/cloudprovider/v1/volume";
import { canonicalCidr } from "../../addresses/ip.ts";
import type { Instance, NodeRef } from "../../definition/instances.ts";
import type { Route, DesiredRoute } from "../../definition/routes.ts";
import type { Volume, VolumeRef, VolumeSource } from "../../definition/volumes.ts";
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
  podCidrs: instance.podCidrs === undefined ? undefined : { cidrs: instance.podCidrs.map(canonicalCidr) },
  createTime: instance.createTime,
  revision: instance.revision ?? "",
});

/** A wanted route as a provider reads it. */
export const fromWireRoute = (route: WireRoute, ids: ProviderIds): DesiredRoute => {
  const parts = ids.parse(route.targetProviderId);
  return {
    ...(route.id ? { id: route.id } : {}),
    ...(route.nameHint ? { nameHint: route.nameHint } : {}),
    targetProviderId: route.targetProviderId,
    ...(parts ? { targetId: parts.id } : {}),
    ...(route.targetNodeName ? { targetNodeName: route.targetNodeName } : {}),
    destinationCidr: canonicalCidr(route.destinationCidr),
    targetAddresses: fromWireAddresses(route.targetAddresses),
  };
};

/** A route on the wire; `asked` has the provider ID under which Kubernetes knows the target. */
export const toWireRoute = (route: Route, ids: ProviderIds, asked?: WireRoute): WireRoute => ({
  id: route.id,
  nameHint: route.nameHint ?? asked?.nameHint ?? "",
  targetProviderId: targetProviderId(route, ids, asked),
  targetNodeName: route.targetNodeName ?? asked?.targetNodeName ?? "",
  destinationCidr: canonicalCidr(route.destinationCidr),
  targetAddresses: toWireAddresses(route.targetAddresses),
  blackhole: route.blackhole ?? false,
});

const targetProviderId = ({ targetId }: Route, ids: ProviderIds, asked: WireRoute | undefined): string => {
  if (targetId === undefined || targetId === "") return asked?.targetProviderId ?? "";
  return ids.complete(targetId, asked && ids.parse(asked.targetProviderId)?.prefix);
};

/** A PersistentVolume as a provider reads it; undefined without source. */
export const fromWireVolumeRef = (volume: WireVolumeRef): VolumeRef | undefined => {
  const source = fromWireSource(volume.source);
  if (!source) return undefined;
  return { name: volume.name, ...(volume.uid ? { uid: volume.uid } : {}), source };
};

const fromWireSource = (source: WireVolumeRef["source"]): VolumeSource | undefined => {
  switch (source?.$case) {
    case "csi":
      return { kind: "csi", driver: source.value.driver, volumeHandle: source.value.volumeHandle };
    case "inTree":
      return { kind: "inTree", plugin: source.value.plugin, volumeId: source.value.volumeId };
    default:
      return undefined;
  }
};

/** A volume as it travels. */
export const toWireVolume = (volume: Volume): WireVolume => ({
  id: volume.id,
  zones: (volume.zones ?? []).toSorted(),
  region: volume.region,
  labels: { ...volume.labels },
  nodeAffinity: (volume.nodeAffinity ?? []).map((requirements) => ({
    requirements: requirements.map(({ key, values }) => ({ key, values: [...values] })),
  })),
});
