import { type ChangeContext, type LoadBalancerRef, ProviderError } from "@cloudwire/provider-sdk";
import { isStatus } from "../cloud/errors.ts";
import { onlyPlanned, type Tools } from "./balancer.ts";
import { type FloatingIp, ownershipDescription, type FloatingStep, planFloatingIp } from "./floating-ips.ts";
import type { Balancer } from "./octavia.ts";
import type { FloatingIpSpec, OctaviaSpec } from "./octavia-spec.ts";

type Ref = Pick<LoadBalancerRef, "cluster" | "service">;

type UsableStep = Exclude<FloatingStep, { readonly kind: "refuse" }>;

/** The load balancer's port, and the floating IPs that are at it or made for the Service. */
interface Seen {
  readonly portId: string;
  readonly present: readonly FloatingIp[];
}

/** For a new load balancer: any floating IP with a port is attached elsewhere. */
const noPort = "";

/** Gives the load balancer exactly the requested floating IP, or none. */
export async function ensureFloatingIp(
  tools: Tools,
  ref: Ref,
  { floating }: Pick<OctaviaSpec, "floating">,
  balancer: Balancer,
  context: ChangeContext,
): Promise<void> {
  const portId = balancer.vip_port_id;
  if (portId === null) return;
  const present = await ownIps(tools, ref, portId, context);
  const step = floating && (await reserved(tools, ref, floating, { portId, present }, context));
  const keptId = step?.kind === "keep" || step?.kind === "associate" ? step.floatingIp.id : undefined;
  // A port has one address from outside at a time: the others go first.
  for (const other of present.filter(({ id }) => id !== keptId)) await letGo(tools, ref, other, context);
  if (floating && step?.kind === "create") await create(tools, ref, floating, portId, context);
  if (step?.kind === "associate") await associate(tools, step.floatingIp, portId, context);
}

/** Reserves the requested address before anything is created. @throws ProviderError if it is unavailable */
export async function reserveAddress(
  tools: Tools,
  ref: Ref,
  { floating }: Pick<OctaviaSpec, "floating">,
  context: ChangeContext,
): Promise<void> {
  if (floating?.address !== undefined) await reserved(tools, ref, floating, { portId: noPort, present: [] }, context);
}

/** Deletes every floating IP with the Service's ownership description, and detaches those of users from the port. */
export async function letGo(tools: Tools, ref: Ref, floatingIp: FloatingIp, context: ChangeContext): Promise<void> {
  const isOwn = floatingIp.description === ownershipDescription(ref.cluster.id, ref.service.uid);
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
  const owned = await floatingIps.list({ description: ownershipDescription(cluster.id, service.uid) }, context);
  const atPort = portId === undefined ? [] : await floatingIps.list({ port_id: portId }, context);
  return [...new Map([...owned, ...atPort].map((each) => [each.id, each])).values()];
}

/** The steps once the project has the requested address. Until then the Service keeps its address. */
async function reserved(
  tools: Tools,
  ref: Ref,
  floating: FloatingIpSpec,
  seen: Seen,
  context: ChangeContext,
): Promise<UsableStep> {
  const step = await planStep(tools, ref, floating, seen, context);
  const { address } = floating;
  if (step.kind !== "create" || address === undefined) return step;
  try {
    const floatingIp = await create(tools, ref, floating, undefined, context);
    return floatingIp ? { kind: "associate", floatingIp } : step;
  } catch (error) {
    if (!isStatus(error, 403) || !(error instanceof ProviderError) || error.reason !== "CLOUD_PERMISSION_DENIED")
      throw error;
    const message = `${address} is not a floating IP of the project, and the cloud's policy does not permit the provider to choose the address of a new one: ask an administrator to create it, or octavia for one that the project has`;
    throw new ProviderError(error.reason, message, { cause: error, field: "spec.requested_ips[0]" });
  }
}

/** @throws ProviderError if the requested address belongs to another port */
async function planStep(
  { floatingIps }: Tools,
  { cluster, service }: Ref,
  { address }: FloatingIpSpec,
  { portId, present }: Seen,
  context: ChangeContext,
): Promise<UsableStep> {
  const named = address === undefined ? [] : await floatingIps.list({ floating_ip_address: address }, context);
  const ownDescription = ownershipDescription(cluster.id, service.uid);
  const step = planFloatingIp(address, [...present, ...named], portId, ownDescription);
  if (step.kind === "refuse") throw step.problem;
  return step;
}

/** @param portId undefined: not associated with a port yet */
async function create(
  { floatingIps }: Tools,
  { cluster, service }: Ref,
  { networkId, subnetId, address }: FloatingIpSpec,
  portId: string | undefined,
  context: ChangeContext,
): Promise<FloatingIp | undefined> {
  if (onlyPlanned({ action: "create", resourceType: "floating IP" }, context)) return undefined;
  const fields = {
    floating_network_id: networkId,
    ...(portId === undefined ? {} : { port_id: portId }),
    description: ownershipDescription(cluster.id, service.uid),
    ...(subnetId === undefined ? {} : { subnet_id: subnetId }),
    ...(address === undefined ? {} : { floating_ip_address: address }),
  };
  return floatingIps.create(fields, context);
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
