import type { ChangeContext, LoadBalancerRef } from "@cloudwire/provider-sdk";
import { onlyPlanned, type Tools } from "./balancer.ts";
import { type FloatingIp, floatingStamp, planFloatingIp } from "./floating-ips.ts";
import type { Balancer } from "./octavia.ts";
import type { FloatingWish, Wish } from "./wish.ts";

type Ref = Pick<LoadBalancerRef, "cluster" | "service">;

/** Makes the load balancer have the wished address from outside and no other, or none. */
export async function ensureFloatingIp(
  tools: Tools,
  ref: Ref,
  { floating }: Pick<Wish, "floating">,
  balancer: Balancer,
  context: ChangeContext,
): Promise<void> {
  const portId = balancer.vip_port_id;
  if (portId === null) return;
  const kept = floating === undefined ? undefined : await wishedIp(tools, ref, floating, portId, context);
  const others = (await ownIps(tools, ref, portId, context)).filter(({ id }) => id !== kept);
  for (const floatingIp of others) await letGo(tools, ref, floatingIp, context);
}

/** Every floating IP that is at the port or has the Service's stamp goes: somebody's own stays in the project. */
export async function letGo(tools: Tools, ref: Ref, floatingIp: FloatingIp, context: ChangeContext): Promise<void> {
  const isOwn = floatingIp.description === floatingStamp(ref.cluster.id, ref.service.uid);
  const action = isOwn ? "delete" : "update";
  const change = { action, resourceType: "floating IP", resourceId: floatingIp.floating_ip_address } as const;
  if (onlyPlanned(change, context)) return;
  if (isOwn) await tools.floatingIps.delete(floatingIp.id, context);
  else await tools.floatingIps.associate(floatingIp.id, null, context);
}

/** At the port, or made for the Service. */
export async function ownIps(
  { floatingIps }: Tools,
  { cluster, service }: Ref,
  portId: string | undefined,
  context: ChangeContext,
): Promise<readonly FloatingIp[]> {
  const stamped = await floatingIps.list({ description: floatingStamp(cluster.id, service.uid) }, context);
  const atPort = portId === undefined ? [] : await floatingIps.list({ port_id: portId }, context);
  return [...new Map([...stamped, ...atPort].map((each) => [each.id, each])).values()];
}

/** The id of the one to keep; undefined where it was only told of. */
async function wishedIp(
  tools: Tools,
  ref: Ref,
  { networkId, subnetId, address }: FloatingWish,
  portId: string,
  context: ChangeContext,
): Promise<string | undefined> {
  const stamp = floatingStamp(ref.cluster.id, ref.service.uid);
  const named = address === undefined ? [] : await tools.floatingIps.list({ floating_ip_address: address }, context);
  const step = planFloatingIp(address, [...(await ownIps(tools, ref, portId, context)), ...named], portId, stamp);
  switch (step.kind) {
    case "keep":
      return step.floatingIp.id;
    case "refuse":
      throw step.problem;
    case "associate": {
      const resourceId = step.floatingIp.floating_ip_address;
      if (onlyPlanned({ action: "update", resourceType: "floating IP", resourceId }, context))
        return step.floatingIp.id;
      // A port has one address from outside at a time.
      for (const other of await tools.floatingIps.list({ port_id: portId }, context))
        await letGo(tools, ref, other, context);
      return (await tools.floatingIps.associate(step.floatingIp.id, portId, context)).id;
    }
    case "create": {
      if (onlyPlanned({ action: "create", resourceType: "floating IP" }, context)) return undefined;
      for (const other of await tools.floatingIps.list({ port_id: portId }, context))
        await letGo(tools, ref, other, context);
      const fields = {
        floating_network_id: networkId,
        port_id: portId,
        description: stamp,
        ...(subnetId === undefined ? {} : { subnet_id: subnetId }),
        ...(address === undefined ? {} : { floating_ip_address: address }),
      };
      return (await tools.floatingIps.create(fields, context)).id;
    }
  }
  return step satisfies never;
}
