import type { ChangeContext, LoadBalancerRef } from "@cloudwire/provider-sdk";
import { onlyPlanned, type Tools } from "./balancer.ts";
import { type FloatingIp, floatingStamp, type FloatingStep, planFloatingIp } from "./floating-ips.ts";
import type { Balancer } from "./octavia.ts";
import type { FloatingWish, Wish } from "./wish.ts";

type Ref = Pick<LoadBalancerRef, "cluster" | "service">;

/** Of a load balancer that is to be made: what is at a port is at another one. */
const noPort = "";

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
  const present = await ownIps(tools, ref, portId, context);
  const step = floating && (await planStep(tools, ref, floating, { portId, present }, context));
  const keptId = step?.kind === "keep" || step?.kind === "associate" ? step.floatingIp.id : undefined;
  // A port has one address from outside at a time: the others go first.
  for (const other of present.filter(({ id }) => id !== keptId)) await letGo(tools, ref, other, context);
  if (floating && step?.kind === "create") await create(tools, ref, floating, portId, context);
  if (step?.kind === "associate") await associate(tools, step.floatingIp, portId, context);
}

/** Looks before anything is made for a wish that cannot be had. @throws ProviderError where the wished address is somebody else's */
export async function confirmAddress(
  tools: Tools,
  ref: Ref,
  { floating }: Pick<Wish, "floating">,
  context: ChangeContext,
): Promise<void> {
  if (floating?.address !== undefined) await planStep(tools, ref, floating, { portId: noPort, present: [] }, context);
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

/** @throws ProviderError where the wished address is somebody else's */
async function planStep(
  { floatingIps }: Tools,
  { cluster, service }: Ref,
  { address }: FloatingWish,
  { portId, present }: { readonly portId: string; readonly present: readonly FloatingIp[] },
  context: ChangeContext,
): Promise<Exclude<FloatingStep, { readonly kind: "refuse" }>> {
  const named = address === undefined ? [] : await floatingIps.list({ floating_ip_address: address }, context);
  const stamp = floatingStamp(cluster.id, service.uid);
  const step = planFloatingIp(address, [...present, ...named], portId, stamp);
  if (step.kind === "refuse") throw step.problem;
  return step;
}

async function create(
  { floatingIps }: Tools,
  { cluster, service }: Ref,
  { networkId, subnetId, address }: FloatingWish,
  portId: string,
  context: ChangeContext,
): Promise<void> {
  if (onlyPlanned({ action: "create", resourceType: "floating IP" }, context)) return;
  const fields = {
    floating_network_id: networkId,
    port_id: portId,
    description: floatingStamp(cluster.id, service.uid),
    ...(subnetId === undefined ? {} : { subnet_id: subnetId }),
    ...(address === undefined ? {} : { floating_ip_address: address }),
  };
  await floatingIps.create(fields, context);
}

async function associate(
  { floatingIps }: Tools,
  { id, floating_ip_address: resourceId }: FloatingIp,
  portId: string,
  context: ChangeContext,
): Promise<void> {
  if (onlyPlanned({ action: "update", resourceType: "floating IP", resourceId }, context)) return;
  await floatingIps.associate(id, portId, context);
}
