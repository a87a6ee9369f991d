import type { Instance as Machine, InstanceNetworkInterface } from "@aws-sdk/client-ec2";
import type { Instance, InstanceState, IpFamily, NodeAddress } from "@cloudwire/provider-sdk";
import { formatId } from "./provider-id.ts";

/** Where the name of a machine's Node is found. */
export type NodeNameSource = { readonly kind: "privateDnsName" } | { readonly kind: "tag"; readonly key: string };

/** The fields of an instance that EC2 always returns. */
export interface KnownMachine extends Machine {
  readonly InstanceId: string;
  readonly zone: string;
}

/** How machines are shown to Kubernetes. */
export interface InstanceView {
  readonly region: string;
  readonly nodeNames: NodeNameSource;
  /** Families of the addresses that Nodes get, the preferred one first. */
  readonly ipFamilies: readonly IpFamily[];
  /** Ids of zones, which are the same in every account, by their names, which are not. */
  readonly zoneIds: ReadonlyMap<string, string>;
}

const zoneIdLabel = "topology.k8s.aws/zone-id";

/** A missing field is an error of the response. Undefined: an instance to leave out. */
export function knownMachine(machine: Machine): KnownMachine | undefined {
  const { InstanceId, Placement } = machine;
  const zone = Placement?.AvailabilityZone;
  return InstanceId === undefined || zone === undefined ? undefined : { ...machine, InstanceId, zone };
}

/** True: gone, and EC2 still knows of it. */
export function isTerminated({ State }: Machine): boolean {
  return State?.Name === "terminated";
}

/** EC2 has it only in a text, and not for each cause: `User initiated (2026-11-21 11:00:00 GMT)`. */
export function terminationTimeOf({ StateTransitionReason = "" }: Machine): Date | undefined {
  const [, day, time] = /\((\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}) GMT\)/.exec(StateTransitionReason) ?? [];
  return day === undefined || time === undefined ? undefined : new Date(`${day}T${time}Z`);
}

/** The name of the machine's Node. */
export function nodeNameOf(machine: Machine, source: NodeNameSource): string {
  if (source.kind === "privateDnsName") return machine.PrivateDnsName ?? "";
  return machine.Tags?.find(({ Key }) => Key === source.key)?.Value ?? "";
}

/** The properties that Kubernetes takes over. Only of machines that are not terminated. */
export function toInstance(machine: KnownMachine, view: InstanceView): Instance {
  const { InstanceId, zone, InstanceType, LaunchTime, StateReason, Placement } = machine;
  const zoneId = Placement?.AvailabilityZoneId ?? view.zoneIds.get(zone);
  return {
    id: formatId(zone, InstanceId),
    name: nodeNameOf(machine, view.nodeNames) || InstanceId,
    type: InstanceType,
    zone,
    region: view.region,
    addresses: addressesOf(machine, view.ipFamilies),
    state: stateOf(machine),
    ...(StateReason?.Message ? { stateReason: StateReason.Message } : {}),
    labels: zoneId === undefined ? {} : { [zoneIdLabel]: zoneId },
    createTime: LaunchTime,
  };
}

/** In the order of AWS' own controller: addresses of every interface in use, then the public ones, then names. */
export function addressesOf(machine: Machine, families: readonly IpFamily[]): readonly NodeAddress[] {
  const interfaces = (machine.NetworkInterfaces ?? [])
    .filter(({ Status }) => Status === "in-use")
    .toSorted((left, right) => deviceIndex(left) - deviceIndex(right));
  const { PrivateIpAddress, PublicIpAddress, PrivateDnsName, PublicDnsName } = machine;
  const ipv4 = interfaces.flatMap(({ PrivateIpAddresses }) =>
    (PrivateIpAddresses ?? []).map((address) => address.PrivateIpAddress),
  );
  // Only the first address of an interface, because others are often pod addresses.
  const ipv6 = interfaces.map(({ Ipv6Addresses }) => Ipv6Addresses?.[0]?.Ipv6Address);
  const internal = { IPv4: interfaces.length === 0 ? [PrivateIpAddress] : ipv4, IPv6: ipv6 };
  const external = { IPv4: [PublicIpAddress], IPv6: [] };
  return [
    ...families.flatMap((family) => listed("InternalIP", internal[family])),
    ...families.flatMap((family) => listed("ExternalIP", external[family])),
    ...listed("InternalDNS", [PrivateDnsName]),
    ...listed("Hostname", [PrivateDnsName]),
    ...listed("ExternalDNS", [PublicDnsName]),
  ];
}

function listed(type: NodeAddress["type"], addresses: readonly (string | undefined)[]): readonly NodeAddress[] {
  return [...new Set(addresses)].flatMap((address) =>
    address === undefined || address === "" ? [] : [{ type, address }],
  );
}

function deviceIndex({ Attachment }: InstanceNetworkInterface): number {
  return Attachment?.DeviceIndex ?? Number.MAX_SAFE_INTEGER;
}

const states: ReadonlyMap<string, InstanceState> = new Map([
  ["pending", "PENDING"],
  ["running", "RUNNING"],
  ["stopping", "STOPPING"],
  ["stopped", "STOPPED"],
  ["shutting-down", "TERMINATING"],
]);

function stateOf({ State }: Machine): InstanceState | undefined {
  return states.get(State?.Name ?? "");
}
