import type { CallScope } from "../cloud/keystone.ts";
import type { Tools } from "./balancer.ts";
import type { FloatingIp } from "./floating-ips.ts";
import type { Balancer, Listener, Pool } from "./octavia.ts";
import type { Seen } from "./to-load-balancer.ts";

/** All fields of an existing load balancer. */
export async function readSeen(tools: Tools, balancer: Balancer, callScope: CallScope): Promise<Seen> {
  const { id, vip_port_id: portId } = balancer;
  const [listeners, pools, floatingIps] = await Promise.all([
    tools.reader.listeners(id, callScope),
    tools.reader.pools(id, callScope),
    portId === null ? [] : tools.floatingIps.list({ port_id: portId }, callScope),
  ]);
  return toSeen(balancer, { listeners, pools, floatingIps });
}

/** The same of many: so many requests as for one. */
export async function readAllSeen(
  tools: Tools,
  balancers: readonly Balancer[],
  callScope: CallScope,
): Promise<readonly Seen[]> {
  if (balancers.length === 0) return [];
  const [listeners, pools, floatingIps] = await Promise.all([
    tools.reader.listeners(undefined, callScope),
    tools.reader.pools(undefined, callScope),
    tools.floatingIps.list({}, callScope),
  ]);
  const [listenersOf, poolsOf] = [byBalancer(listeners), byBalancer(pools)];
  const ipsOf = Map.groupBy(floatingIps, ({ port_id: portId }) => portId);
  return balancers.map((balancer) =>
    toSeen(balancer, {
      listeners: listenersOf.get(balancer.id) ?? [],
      pools: poolsOf.get(balancer.id) ?? [],
      floatingIps: balancer.vip_port_id === null ? [] : (ipsOf.get(balancer.vip_port_id) ?? []),
    }),
  );
}

interface Around {
  readonly listeners: readonly Listener[];
  readonly pools: readonly Pool[];
  /** At the load balancer's port. */
  readonly floatingIps: readonly FloatingIp[];
}

function toSeen(balancer: Balancer, { listeners, pools, floatingIps: [floatingIp] }: Around): Seen {
  const registeredNodes = pools[0]?.members.length ?? 0;
  return { balancer, floatingIp, registeredNodes, facts: factsOf(listeners, pools) };
}

/** Octavia's listeners and pools are each of one load balancer. */
function byBalancer<Part extends Pick<Pool, "loadbalancers">>(parts: readonly Part[]): Map<string, Part[]> {
  return Map.groupBy(parts, ({ loadbalancers }) => loadbalancers[0]?.id ?? "");
}

/** A fingerprint of all that someone could change without the provider, and of nothing that changes by itself. */
function factsOf(listeners: readonly Listener[], pools: readonly Pool[]): unknown {
  return [
    listeners
      .map(({ name, protocol, protocol_port: port, default_pool_id: pool, allowed_cidrs: cidrs }) =>
        JSON.stringify([name, protocol, port, pool, (cidrs ?? []).toSorted()]),
      )
      .toSorted(),
    pools
      .map(({ id, name, protocol, session_persistence: affinity, healthmonitor_id: monitor }) =>
        JSON.stringify([id, name, protocol, affinity?.type ?? null, monitor ?? null]),
      )
      .toSorted(),
  ];
}
