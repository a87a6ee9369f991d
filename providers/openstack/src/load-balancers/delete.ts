import { type ChangeContext, type LoadBalancerRef, type Pending, pending } from "@cloudwire/provider-sdk";
import { isStatus } from "../cloud/errors.ts";
import { findBalancer, onlyPlanned, type Tools } from "./balancer.ts";
import { letGo, ownIps } from "./ensure-floating-ip.ts";
import type { Balancer } from "./octavia.ts";
import { ownershipDescription } from "./floating-ips.ts";

const pollAfterMs = 2_000;

/** Deletes everything with the ownership tags of this cluster and Service, including floating IPs that an interrupted call left. */
export async function deleteLoadBalancer(
  tools: Tools,
  ref: LoadBalancerRef,
  context: ChangeContext,
): Promise<Pending | undefined> {
  const { own } = await findBalancer(tools, ref, context);
  await letIpsGo(tools, ref, own, context);
  const refusals: string[] = [];
  for (const balancer of own) refusals.push(...(await deleteOne(tools, balancer, context)));
  const [first] = context.validateOnly ? [] : own;
  if (first === undefined) return undefined;
  const remaining = own.map(({ id }) => `load balancer ${id}`);
  const [message] = refusals;
  if (message === undefined) return pending(first.id, { pollAfterMs, stage: "Octavia deletes it", remaining });
  return pending(first.id, { pollAfterMs, stage: "Octavia does not accept the deletion", message, remaining });
}

/** With everything in it. One that Octavia works on takes no deletion either: the next call tries again. Answers why Octavia refuses. */
async function deleteOne({ openStack }: Tools, balancer: Balancer, context: ChangeContext): Promise<readonly string[]> {
  const { id, name, provisioning_status: status } = balancer;
  if (status.startsWith("PENDING_")) return [];
  if (onlyPlanned({ action: "delete", resourceType: "load balancer", resourceId: name }, context)) return [];
  try {
    await openStack.delete(context, "load-balancer", `/lbaas/loadbalancers/${id}?cascade=true`);
  } catch (error) {
    // Gone meanwhile, or at work again.
    if (!isStatus(error, 404) && !isStatus(error, 409)) throw error;
    if (isStatus(error, 409) && error instanceof Error) return [error.message];
  }
  return [];
}

async function letIpsGo(
  tools: Tools,
  ref: LoadBalancerRef,
  own: readonly Balancer[],
  context: ChangeContext,
): Promise<void> {
  const isKept = ref.annotations["loadbalancer.openstack.org/keep-floatingip"]?.trim() === "true";
  const found = await ownIps(tools, ref, own[0]?.vip_port_id ?? undefined, context);
  const ownDescription = ownershipDescription(ref.cluster.id, ref.service.uid);
  // Those of users lose their port with the load balancer.
  const made = found.filter(({ description }) => description === ownDescription);
  for (const floatingIp of isKept ? [] : made) await letGo(tools, ref, floatingIp, context);
}
