import { isIP } from "node:net";
import type { Cidr } from "@cloudwire/provider-sdk/addresses";
import type { Settings } from "../../api/admin.ts";
import type { InstancePatch, InstanceRecord, InstanceSpec, InstanceState } from "../../api/instances.ts";
import { addressAt, parseNetwork, sizeOf, subnetAt } from "../addresses.ts";
import { CloudError } from "../errors.ts";
import { regionOfZone } from "../geography.ts";
import { allocate, type Pool, release } from "../store/allocations.ts";
import { newId } from "../store/meta.ts";
import type { Versioned } from "../store/resource-store.ts";
import { instanceKind } from "./kinds.ts";
import { checkQuota } from "./quota.ts";
import { timestamp, type World } from "./world.ts";

type InstanceVersion = Versioned<InstanceRecord>;

/** All or none. */
export const createInstances = (world: World, account: string, specs: readonly InstanceSpec[]): InstanceVersion[] =>
  world.database.transaction(() => {
    checkQuota(world, account, "instances", specs.length);
    return specs.map((spec) => createInstance(world, account, spec));
  });

export const getInstance = (world: World, account: string, id: string, snapshot?: number): InstanceVersion => {
  const instance = world.store.get(instanceKind, account, id, snapshot);
  if (!instance) throw new CloudError("InstanceNotFound", `no instance ${id} in account ${account}`);
  return instance;
};

export const patchInstance = (world: World, account: string, id: string, patch: InstancePatch): InstanceVersion =>
  world.database.transaction(() => {
    const { revision: _, ...instance } = getInstance(world, account, id);
    if (instance.state === "terminated") throw wrongState(instance, "changed");
    checkAddresses([...(patch.internalAddresses ?? []), ...(patch.externalAddresses ?? [])]);
    const changed = { ...instance, ...patch, updatedAt: timestamp(world.clock.now()) };
    return world.store.put(instanceKind, account, changed, world.store.dueOf(instanceKind, account, id));
  });

/** Stopping what is stopped, starting what runs, terminating what is terminated: nothing happens, no error. */
export const moveInstance = (
  world: World,
  account: string,
  id: string,
  action: "start" | "stop" | "terminate",
): InstanceVersion =>
  world.database.transaction(() => {
    const instance = getInstance(world, account, id);
    const { from, through, settled } = actions[action];
    if (settled.some((state) => state === instance.state)) return instance;
    if (!from.some((state) => state === instance.state)) throw wrongState(instance, action);
    return enter(world, account, instance, through);
  });

/** What the scheduler does when an instance is due. */
export const advanceInstance = (world: World, account: string, id: string): void => {
  const instance = world.store.get(instanceKind, account, id);
  const next = instance && transitions[instance.state];
  if (!next) return;
  if (next.to === undefined) world.store.delete(instanceKind, account, instance);
  else enter(world, account, instance, next.to);
};

/** How many instances the networks have room for: each needs an internal address and a pod CIDR. */
const instancePool = (network: Cidr): Pool => {
  const room = sizeOf(network) - 2n;
  return { name: `instances ${network.text}`, first: 1, last: Math.min(Number(room), podCidrRoom) };
};

const createInstance = (world: World, account: string, spec: InstanceSpec): InstanceVersion => {
  const region = regionOfZone(world.geography, spec.zone);
  checkAddresses(spec.internalAddresses ?? []);
  const id = newId(world.database, "i");
  const position = allocate(world.database, instancePool(world.networks.instances), id);
  const now = timestamp(world.clock.now());
  const record: InstanceRecord = {
    id,
    name: spec.name,
    tags: spec.tags ?? {},
    createdAt: now,
    updatedAt: now,
    type: spec.type ?? "small",
    region,
    zone: spec.zone,
    hostname: spec.hostname ?? `${spec.name}.${region}.simcloud.internal`,
    state: "pending",
    stateReason: "",
    ...addressesOf(world.networks.instances, spec, position),
  };
  return enter(world, account, record, "pending");
};

/** Everything that is numbered follows from the one position that was allocated. */
const addressesOf = (network: Cidr, spec: InstanceSpec, position: number) => {
  const internal = spec.internalAddresses ?? [addressAt(network, position)];
  const external = spec.externalAddress ? [addressAt(externalIpv4, position)] : [];
  const podCidrs = spec.podCidr ? [subnetAt(podIpv4, 24, position)] : [];
  if (!spec.ipv6) return { internalAddresses: internal, externalAddresses: external, podCidrs };
  return {
    internalAddresses: spec.internalAddresses ? internal : [...internal, addressAt(internalIpv6, position)],
    externalAddresses: spec.externalAddress ? [...external, addressAt(externalIpv6, position)] : external,
    podCidrs: spec.podCidr ? [...podCidrs, subnetAt(podIpv6, 64, position)] : podCidrs,
  };
};

interface Transition {
  /** Undefined: the resource is forgotten. */
  readonly to: InstanceState | undefined;
  readonly delayMs: (delays: Settings["delays"]) => number;
}

const transitions: Partial<Record<InstanceState, Transition>> = {
  pending: { to: "running", delayMs: (delays) => delays.instanceStartMs },
  stopping: { to: "stopped", delayMs: (delays) => delays.instanceStopMs },
  terminating: { to: "terminated", delayMs: (delays) => delays.instanceTerminateMs },
  terminated: { to: undefined, delayMs: (delays) => delays.tombstoneMs },
};

const actions = {
  start: { from: ["stopped"], through: "pending", settled: ["pending", "running"] },
  stop: { from: ["pending", "running"], through: "stopping", settled: ["stopping", "stopped"] },
  terminate: {
    from: ["pending", "running", "stopping", "stopped"],
    through: "terminating",
    settled: ["terminating", "terminated"],
  },
} as const;

/** A state that takes no time is passed through at once: 5,000 instances then cost one write each, not three. */
const enter = (world: World, account: string, record: InstanceRecord, state: InstanceState): InstanceVersion => {
  const next = transitions[state];
  if (next?.to !== undefined && next.delayMs(world.settings().delays) === 0) {
    return enter(world, account, record, next.to);
  }
  const now = timestamp(world.clock.now());
  const changed: InstanceRecord = { ...record, state, stateReason: reasonOf(state), updatedAt: now };
  if (state !== "terminated") return world.store.put(instanceKind, account, changed, dueOf(world, state));
  release(world.database, record.id);
  const gone = { ...changed, terminatedAt: now, internalAddresses: [], externalAddresses: [], podCidrs: [] };
  return world.store.put(instanceKind, account, gone, dueOf(world, state));
};

const dueOf = (world: World, state: InstanceState): number | undefined => {
  const next = transitions[state];
  return next && world.clock.now() + next.delayMs(world.settings().delays);
};

const reasonOf = (state: InstanceState): string => (state === "terminated" ? "terminated on request" : "");

const wrongState = (instance: InstanceRecord, action: string): CloudError =>
  new CloudError("InvalidState", `instance ${instance.id} is ${instance.state}: ${action} is not possible`);

const checkAddresses = (addresses: readonly string[]): void => {
  const wrong = addresses.find((address) => isIP(address) === 0);
  if (wrong !== undefined) throw new CloudError("InvalidRequest", `${JSON.stringify(wrong)} is not an IP address`);
};

const network = (text: string): Cidr => {
  const cidr = parseNetwork(text);
  if (!cidr) throw new Error(`${text} is not a network`);
  return cidr;
};

// External and IPv6 addresses are only reported, never listened on: benchmarking, documentation and unique local ranges.
const externalIpv4 = network("198.18.0.0/15");
const externalIpv6 = network("2001:db8:51::/96");
const internalIpv6 = network("fd51:51::/96");
const podIpv4 = network("10.128.0.0/9");
const podIpv6 = network("fd52::/32");
/** Number of /24 in podIpv4, the smallest of them all; position 0 is not given out. */
const podCidrRoom = 32_767;
