import {
  type ChangeContext,
  type LoadBalancer,
  type LoadBalancerRef,
  ProviderError,
  type DesiredLoadBalancer,
  type DesiredNodes,
  type UnregisteredNode,
} from "@cloudwire/provider-sdk";
import { isStatus } from "../cloud/errors.ts";
import {
  carryOut,
  createBalancer,
  findBalancer,
  onlyPlanned,
  settledBalancer,
  type Tools,
  writeTags,
} from "./balancer.ts";
import { reserveAddress, ensureFloatingIp } from "./ensure-floating-ip.ts";
import { reportFixed } from "./fixed.ts";
import type { Balancer, Parts } from "./octavia.ts";
import { fromTags, toTags } from "./ownership.ts";
import { planMembers, planParts, type Step } from "./plan.ts";
import { readSeen } from "./read.ts";
import { toLoadBalancer } from "./to-load-balancer.ts";
import { memberSubnetOf, membersOf, portsIn, toOctaviaSpec, type OctaviaSpec } from "./octavia-spec.ts";

/** Reconciles the load balancer and all its parts. Reads each part and writes only the differences. */
export async function ensureLoadBalancer(
  tools: Tools,
  wanted: DesiredLoadBalancer,
  context: ChangeContext,
): Promise<LoadBalancer | undefined> {
  const octavia = toOctaviaSpec(wanted, tools.settings);
  const existing = await findOrCreate(tools, wanted, octavia, context);
  if (existing === undefined) return undefined;
  const balancer = await settledBalancer(tools, existing.id, context);
  reportFixed(balancer, wanted, octavia.floating !== undefined, context);
  const parts = await tools.reader.parts(balancer.id, context);
  const steps = planParts(
    balancer.id,
    octavia.listeners.map((listener) => ({
      listener,
      members: membersOf(wanted.nodes, listener.pool, octavia.memberSubnetId),
      isForNodes: wanted.nodes.length > 0,
    })),
    parts,
  );
  const isOther = steps.length > 0 || fromTags(balancer.tags).spec !== wanted.specFingerprint;
  // From here on the previous configuration is no longer in effect, even if a change fails.
  if (isOther) await writeTags(tools, balancer, octavia.tags, context);
  await carryOut(tools, balancer.id, steps, poolIdsOf(parts), context);
  await ensureFloatingIp(tools, wanted, octavia, balancer, context);
  const inForce = { spec: wanted.specFingerprint, ...nodesInForce(wanted) };
  const present = isOther ? { ...balancer, tags: [...octavia.tags] } : balancer;
  await writeTags(tools, present, [...octavia.tags, ...toTags(inForce)], context);
  return answer(tools, balancer.id, wanted, context);
}

/** Replaces only the targets. */
export async function updateNodes(
  tools: Tools,
  wanted: LoadBalancerRef & DesiredNodes,
  context: ChangeContext,
): Promise<LoadBalancer> {
  const {
    own: [found],
  } = await findBalancer(tools, wanted, context);
  if (!found) {
    const { namespace, name } = wanted.service;
    const message = `Service ${namespace}/${name} has no load balancer ${wanted.key}`;
    throw new ProviderError("LOAD_BALANCER_NOT_FOUND", message);
  }
  const balancer = await settledBalancer(tools, found.id, context);
  const parts = await tools.reader.parts(balancer.id, context);
  await carryOut(tools, balancer.id, memberSteps(tools, wanted, parts), poolIdsOf(parts), context);
  const kept = balancer.tags.filter((tag) => !tag.startsWith(nodesTagPrefix));
  await writeTags(tools, balancer, [...kept, ...toTags(nodesInForce(wanted))], context);
  return answer(tools, balancer.id, wanted, context);
}

const [nodesTagPrefix = ""] = toTags({ nodes: "" });

/** The names of pools contain their ports. */
function memberSteps(tools: Tools, wanted: LoadBalancerRef & DesiredNodes, parts: Parts): readonly Step[] {
  const memberSubnetId = memberSubnetOf(wanted.annotations, tools.settings);
  return parts.pools.flatMap(({ id, name }) => {
    const ports = portsIn(name);
    if (ports === undefined) return [];
    const members = membersOf(wanted.nodes, ports, memberSubnetId);
    return planMembers(name, { members, isForNodes: wanted.nodes.length > 0 }, parts.members.get(id) ?? []);
  });
}

async function findOrCreate(
  tools: Tools,
  wanted: DesiredLoadBalancer,
  octavia: OctaviaSpec,
  context: ChangeContext,
): Promise<Balancer | undefined> {
  const { own, problem } = await findBalancer(tools, wanted, context);
  if (problem) throw problem;
  const [first] = own;
  if (first) return first;
  await reserveAddress(tools, wanted, octavia, context);
  const change = { action: "create", resourceType: "load balancer", resourceId: octavia.name } as const;
  if (onlyPlanned(change, context)) return undefined;
  try {
    return await createBalancer(tools, { name: octavia.name, tags: octavia.tags, ...octavia.creation }, context);
  } catch (error) {
    if (!(error instanceof ProviderError) || !octavia.isOfSettings || !(isStatus(error, 400) || isStatus(error, 404))) {
      throw error;
    }
    const message = `${error.message}: check --load-balancer-subnet and --load-balancer-provider`;
    throw new ProviderError("CLOUD_SETUP_INVALID", message, { cause: error.cause });
  }
}

/** Nodes that have no address to send traffic to, yet. */
function withoutAddress({ nodes }: DesiredNodes): readonly UnregisteredNode[] {
  const message = "The Node has no InternalIP; it is registered when it has one";
  return nodes
    .filter(({ ip }) => ip === undefined)
    .map(({ name, providerId }) => ({ name, providerId, reason: "NoInternalIP", message }));
}

/** The tag of nodes that are all targets; others are not in force, so that the change is repeated. */
function nodesInForce(wanted: DesiredNodes): { readonly nodes?: string } {
  return withoutAddress(wanted).length === 0 ? { nodes: wanted.nodesFingerprint } : {};
}

function poolIdsOf({ pools }: Parts): ReadonlyMap<string, string> {
  return new Map(pools.map(({ id, name }) => [name, id]));
}

async function answer(tools: Tools, id: string, wanted: DesiredNodes, context: ChangeContext): Promise<LoadBalancer> {
  const settled = context.validateOnly
    ? await tools.reader.balancer(id, context)
    : await settledBalancer(tools, id, context);
  return { ...toLoadBalancer(await readSeen(tools, settled, context)), unregisteredNodes: withoutAddress(wanted) };
}
