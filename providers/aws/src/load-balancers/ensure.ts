import {
  type ChangeContext,
  type LoadBalancer,
  type LoadBalancerRef,
  ProviderError,
  type DesiredLoadBalancer,
  type DesiredNodes,
} from "@cloudwire/provider-sdk";
import { changeBalancer, createBalancer, ensureAttributes, voidSpec } from "./balancer.ts";
import { findBalancer } from "./find.ts";
import { isInternal } from "./fixed.ts";
import { ensureListeners } from "./listeners.ts";
import { groupPrefix } from "./names.ts";
import type { SeenBalancer, SeenGroup } from "./reader.ts";
import { ensureOwnGroup, ensureSecurityGroups } from "./security-groups/security-groups.ts";
import { type Tools, Work } from "./tools.ts";
import { findSubnets } from "./subnets.ts";
import { withOwnTags } from "./tags/own-tags.ts";
import { type TaggedPart, writePartTags, writeTags } from "./tags/write-tags.ts";
import { ownGroups } from "./target-groups/own-groups.ts";
import { deleteGroups, ensureGroups } from "./target-groups/target-groups.ts";
import { ensureTargets, type Registration, targetNodes } from "./target-groups/targets.ts";
import { nodesTag, type Seen, specTag, toLoadBalancer } from "./to-load-balancer.ts";
import { toNlbSpec, type NlbSpec } from "./desired/nlb-spec.ts";

/** Reconciles the load balancer and all its parts. Reads each part and writes only the differences. */
export async function ensureLoadBalancer(
  tools: Tools,
  wanted: DesiredLoadBalancer,
  context: ChangeContext,
): Promise<LoadBalancer | undefined> {
  const nlb = toNlbSpec(wanted);
  const work = new Work(context);
  const balancer = await findExisting(tools, wanted, context);
  const subnets = await findSubnets(
    tools.aws,
    tools.settings.vpcId,
    { isInternal: isInternal(balancer, nlb), addressType: nlb.addressType, named: nlb.subnets },
    context,
  );
  if (balancer) await voidSpec(tools, balancer, wanted.specFingerprint, work);
  const securityGroups = await securityGroupsFor(tools, wanted, nlb, balancer, work);
  const present = await presentGroups(tools, wanted, balancer, context);
  const groups = await ensureGroups(tools, wanted, nlb, present, work);
  const registration = await ensureTargets(tools, groups, targetNodes(wanted.nodes, context), work);
  if (balancer) await changeBalancer(tools, balancer, nlb, subnets, securityGroups, work);
  const arn = balancer?.arn ?? (await createBalancer(tools, nlb, subnets, securityGroups, work));
  if (arn === undefined) return undefined;
  context.reportProgress({ id: arn, stage: "writing listeners and attributes" });
  const keptListeners = await ensureListeners(tools, arn, nlb, groups, work);
  await ensureAttributes(tools, arn, nlb, work);
  await deleteGroups(tools, unwantedGroups(present, wanted.key, nlb, balancer), arn, work);
  const tags = withOwnTags(nlb.tags);
  const keptGroups = groups.flatMap(({ name, arn: id, isNew }) =>
    isNew || id === undefined ? [] : [{ resourceType: "target group" as const, id, name }],
  );
  await writePartTags(tools, [...keptGroups, ...keptListeners], tags, work);
  const inForce = { [specTag]: wanted.specFingerprint, [nodesTag]: nodesInForce(wanted, registration) };
  await writeTags(
    tools,
    balancerPart({ arn, name: nlb.name, tags: balancer?.tags ?? tags }),
    { ...tags, ...inForce },
    work,
  );
  return answer(tools, arn, wanted, registration, work);
}

/** Replaces only the targets. */
export async function updateNodes(
  tools: Tools,
  wanted: LoadBalancerRef & DesiredNodes,
  context: ChangeContext,
): Promise<LoadBalancer> {
  const work = new Work(context);
  const { own } = await findBalancer(tools, wanted, context);
  if (!own) {
    const { namespace, name } = wanted.service;
    throw new ProviderError(
      "LOAD_BALANCER_NOT_FOUND",
      `Service ${namespace}/${name} has no load balancer ${wanted.key}`,
    );
  }
  const groups = await tools.reader.groups(own.arn, context);
  const registration = await ensureTargets(tools, groups, targetNodes(wanted.nodes, context), work);
  const tags = { ...own.tags, [nodesTag]: nodesInForce(wanted, registration) };
  await writeTags(tools, balancerPart(own), tags, work);
  return answer(tools, own.arn, wanted, registration, work);
}

/** Nodes that are not all targets are not in force, so that the change is repeated. */
function nodesInForce({ nodesFingerprint }: DesiredNodes, { unregisteredNodes }: Registration): string {
  return unregisteredNodes.length === 0 ? nodesFingerprint : "";
}

function balancerPart({ arn, name, tags }: Pick<SeenBalancer, "arn" | "name" | "tags">): TaggedPart {
  return { resourceType: "load balancer", id: arn, name, present: tags };
}

/** All fields of an existing load balancer. */
export async function readSeen(
  { reader }: Pick<Tools, "reader">,
  balancer: SeenBalancer,
  { cluster, service }: Pick<LoadBalancerRef, "cluster" | "service">,
  context: Pick<ChangeContext, "signal" | "recordCloudCall">,
): Promise<Seen> {
  const [groups, securityGroups] = await Promise.all([
    reader.groups(balancer.arn, context),
    reader.ownedSecurityGroups(cluster.id, service.uid, context),
  ]);
  return { balancer, groups, securityGroups };
}

async function findExisting(
  tools: Tools,
  wanted: DesiredLoadBalancer,
  context: ChangeContext,
): Promise<SeenBalancer | undefined> {
  const { own, problem } = await findBalancer(tools, wanted, context);
  if (wanted.adopt === undefined || own?.arn === wanted.adopt.loadBalancerId) {
    if (own === undefined && problem) throw problem;
    return own;
  }
  const id = wanted.adopt.loadBalancerId;
  const field = "adopt.load_balancer_id";
  if (own) {
    const message = `Service ${wanted.service.name} has load balancer ${own.arn} already and cannot adopt ${id}`;
    throw new ProviderError("FIELD_INVALID", message, { field });
  }
  const adopted = await tools.reader.balancer(id, context);
  if (adopted?.arn === id && adopted.details.VpcId === tools.settings.vpcId) return adopted;
  const message = `there is no network load balancer ${id} in ${tools.settings.vpcId} to adopt: give its ARN`;
  throw new ProviderError("FIELD_INVALID", message, { field });
}

/** Without a spec in force, an earlier call was interrupted, and has perhaps made groups that no listener forwards to. */
async function presentGroups(
  tools: Tools,
  wanted: DesiredLoadBalancer,
  balancer: SeenBalancer | undefined,
  context: ChangeContext,
): Promise<readonly SeenGroup[]> {
  const isComplete = balancer !== undefined && (balancer.tags[specTag] ?? "") !== "";
  return isComplete ? tools.reader.groups(balancer.arn, context) : ownGroups(tools, wanted, balancer, context);
}

/** A load balancer that was made without security groups, as AWS' own controller may have, can never have any. */
async function securityGroupsFor(
  tools: Tools,
  wanted: DesiredLoadBalancer,
  nlb: NlbSpec,
  balancer: SeenBalancer | undefined,
  work: Work,
): Promise<readonly string[]> {
  const adoptedArn = balancer?.name === wanted.key ? undefined : balancer?.arn;
  if (balancer === undefined || (balancer.details.SecurityGroups ?? []).length > 0) {
    return ensureSecurityGroups(tools, wanted, nlb, adoptedArn, work);
  }
  if (wanted.sourceRanges.length > 0) {
    const message = `load balancer ${balancer.name} was created without security groups and cannot enforce source ranges: recreate the Service`;
    throw new ProviderError("FEATURE_UNSUPPORTED", message, { field: "spec.source_ranges" });
  }
  const summary = `Load balancer ${balancer.name} was created without security groups and can have none: nodes must allow its clients`;
  work.context.addDiagnostic({ reason: "NoSecurityGroups", summary });
  // It is how the load balancer is found again.
  if (adoptedArn !== undefined) await ensureOwnGroup(tools, wanted, nlb, adoptedArn, work);
  return [];
}

/** Of an adopted load balancer, deletes all unneeded target groups, otherwise only those of the provider. */
function unwantedGroups(
  present: readonly SeenGroup[],
  key: string,
  nlb: NlbSpec,
  balancer: SeenBalancer | undefined,
): readonly SeenGroup[] {
  const wanted = new Set(nlb.listeners.map(({ group }) => group.name));
  const isOurs = (name: string): boolean => name.startsWith(groupPrefix(key)) || balancer?.name !== key;
  return present.filter(({ name }) => !wanted.has(name) && isOurs(name));
}

async function answer(
  tools: Tools,
  arn: string,
  ref: Pick<LoadBalancerRef, "cluster" | "service">,
  registration: Registration,
  work: Work,
): Promise<LoadBalancer> {
  const balancer = await tools.reader.balancer(arn, work.context);
  if (!balancer)
    throw new ProviderError(
      "NOT_READY",
      `load balancer ${arn} was just created or is being deleted; the call is retried`,
    );
  const { registeredNodes, unregisteredNodes } = registration;
  const seen = await readSeen(tools, balancer, ref, work.context);
  return { ...toLoadBalancer({ ...seen, registeredNodes }), unregisteredNodes };
}
