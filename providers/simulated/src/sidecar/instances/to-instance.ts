import type { Instance as ProviderInstance, NodeAddress } from "@cloudwire/provider-sdk";
import type { Instance } from "../../api/instances.ts";
import { formatId } from "./provider-id.ts";

/** Tags under this prefix become labels of the Node. */
const labelTagPrefix = "node-label/";

/** The properties that Kubernetes takes over. Only of instances that are not terminated. */
export function toInstance(instance: Instance): ProviderInstance {
  const { id, name, type, zone, region, hostname, podCidrs, state, stateReason, tags } = instance;
  return {
    id: formatId({ zone, instanceId: id }),
    name,
    type,
    zone,
    region,
    addresses: addressesOf(instance.internalAddresses, instance.externalAddresses, hostname),
    state: stateOf(state),
    ...(stateReason === "" ? {} : { stateReason }),
    labels: labelsOf(tags),
    podCidrs,
    createTime: new Date(instance.createdAt),
    revision: String(instance.revision),
  };
}

function labelsOf(tags: Instance["tags"]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(tags)
      .filter(([key]) => key.startsWith(labelTagPrefix))
      .map(([key, value]) => [key.slice(labelTagPrefix.length), value] as const),
  );
}

function addressesOf(internal: readonly string[], external: readonly string[], hostname: string): NodeAddress[] {
  return [
    ...internal.map((address) => ({ type: "InternalIP", address }) as const),
    ...external.map((address) => ({ type: "ExternalIP", address }) as const),
    { type: "InternalDNS", address: hostname },
    { type: "Hostname", address: hostname },
  ];
}

function stateOf(state: Instance["state"]): NonNullable<ProviderInstance["state"]> {
  switch (state) {
    case "pending":
      return "PENDING";
    case "running":
      return "RUNNING";
    case "stopping":
      return "STOPPING";
    case "stopped":
      return "STOPPED";
    case "terminating":
      return "TERMINATING";
    case "terminated":
      throw new Error("a terminated instance is an absence and has no state");
  }
  return state satisfies never;
}
