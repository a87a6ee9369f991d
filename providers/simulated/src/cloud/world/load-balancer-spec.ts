import { positionOf } from "@cloudwire/provider-sdk/addresses";
import type { Listener, ListenerSpec, LoadBalancerRecord } from "../../api/load-balancers.ts";
import { addressAt, parseNetwork, sizeOf } from "../addresses.ts";
import { CloudError } from "../errors.ts";
import type { Forwarding } from "../forwarding/forwarder.ts";
import { allocate, type Pool, reserve } from "../store/allocations.ts";
import type { World } from "./world.ts";

/** Checks listeners and fills in where they are really bound. Listeners that stay the same keep their status. */
export const toListeners = (
  world: World,
  specs: readonly ListenerSpec[],
  existing: readonly Listener[] = [],
): Listener[] => {
  const seen = new Set<number>();
  return specs.map((spec) => {
    if (seen.has(spec.port)) throw new CloudError("InvalidRequest", `two listeners have port ${spec.port}`);
    seen.add(spec.port);
    const boundPort = spec.port + world.listenPortOffset;
    if (boundPort > 65_535) {
      const offset = `the cloud's listenPortOffset ${world.listenPortOffset}`;
      throw new CloudError("PortNotPermitted", `port ${spec.port} plus ${offset} is over 65535`);
    }
    const same = existing.find((listener) => listener.boundPort === boundPort);
    const reason = same?.reason === undefined ? {} : { reason: same.reason };
    return { ...spec, boundPort, status: same?.status ?? "pending", ...reason };
  });
};

export const checkSourceRanges = (ranges: readonly string[]): string[] => {
  const wrong = ranges.find((range) => !parseNetwork(range));
  if (wrong !== undefined) {
    throw new CloudError("InvalidRequest", `source range ${JSON.stringify(wrong)} is not a network in CIDR notation`);
  }
  return [...ranges];
};

/** Takes an address for a load balancer: the one requested, or the next. */
export const takeAddress = (world: World, id: string, requested: string | undefined): string => {
  const network = world.networks.loadBalancers;
  const last = Number(sizeOf(network) - 2n);
  const pool: Pool = { name: `loadBalancers ${network.text}`, first: 1, last };
  if (requested === undefined) return addressAt(network, allocate(world.database, pool, id));
  const position = Number(positionOf(network, requested) ?? 0);
  if (position < 1 || position > last) {
    throw new CloudError("InvalidRequest", `address ${requested} is not in the pool ${network.text}`);
  }
  const owner = reserve(world.database, pool, position, id);
  if (owner !== undefined) throw new CloudError("AddressInUse", `load balancer ${owner} has address ${requested}`);
  return requested;
};

export const toForwarding = (account: string, record: LoadBalancerRecord): Forwarding => ({
  id: record.id,
  account,
  address: record.address,
  listeners: record.listeners.map(({ boundPort, targetPort }) => ({ boundPort, targetPort })),
  sourceRanges: record.sourceRanges,
  sticky: record.sessionAffinity === "clientIp",
  idleTimeoutMs: record.idleTimeoutMs,
  healthCheck: record.healthCheck && { path: "/", ...record.healthCheck },
});
