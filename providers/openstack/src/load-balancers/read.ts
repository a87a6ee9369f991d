import type { Occasion } from "../cloud/keystone.ts";
import type { Tools } from "./balancer.ts";
import type { Balancer, Listener, Pool } from "./octavia.ts";
import type { Seen } from "./to-load-balancer.ts";

/** All that can be told of a load balancer that exists. */
export async function readSeen(tools: Tools, balancer: Balancer, occasion: Occasion): Promise<Seen> {
  const { vip_port_id: portId } = balancer;
  const [listeners, pools, [floatingIp]] = await Promise.all([
    tools.reader.listeners(balancer.id, occasion),
    tools.reader.pools(balancer.id, occasion),
    portId === null ? [] : tools.floatingIps.list({ port_id: portId }, occasion),
  ]);
  const [first] = pools;
  const registeredNodes = first ? (await tools.reader.members(first.id, occasion)).length : 0;
  return { balancer, floatingIp, registeredNodes, facts: factsOf(listeners, pools) };
}

/** Whatever somebody could change behind the provider's back, and nothing that changes by itself. */
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
