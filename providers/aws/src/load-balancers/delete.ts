import {
  DeleteLoadBalancerCommand,
  DescribeLoadBalancerAttributesCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import {
  type ChangeContext,
  type LoadBalancerRef,
  type Pending,
  pending,
  ProviderError,
} from "@cloudwire/provider-sdk";
import { clusterIdTag, fromAwsTags, serviceUidTag } from "../cloud/ownership.ts";
import { findBalancer } from "./find.ts";
import { groupPrefix } from "./names.ts";
import type { SeenBalancer, SeenGroup } from "./reader.ts";
import { deleteSecurityGroups } from "./security-groups/security-groups.ts";
import { type Tools, Work } from "./tools.ts";
import { deleteGroups } from "./target-groups/target-groups.ts";

/** The load balancer's network interfaces, which hold its security group, go a minute or two after it. */
const pollAfterMs = 10_000;

/** Deletes everything with the ownership tags of this cluster and Service, including parts that an interrupted call left. */
export async function deleteLoadBalancer(
  tools: Tools,
  ref: LoadBalancerRef,
  context: ChangeContext,
): Promise<Pending | undefined> {
  const work = new Work(context);
  const { own } = await findBalancer(tools, ref, context);
  const groups = await ownGroups(tools, ref, own, context);
  if (own) {
    await checkProtection(tools, own, context);
    await work.change({ action: "delete", resourceType: "load balancer", resourceId: own.name }, () =>
      tools.aws.elb(context, (client, options) =>
        client.send(new DeleteLoadBalancerCommand({ LoadBalancerArn: own.arn }), options),
      ),
    );
  }
  const remaining = [...(await deleteGroups(tools, groups, work)), ...(await deleteSecurityGroups(tools, ref, work))];
  if (remaining.length === 0) return undefined;
  return pending(own?.arn ?? ref.id ?? ref.key, { pollAfterMs, stage: "deleting network interfaces", remaining });
}

/** Unlike AWS' own error, this one explains the fix. */
async function checkProtection({ aws }: Tools, { arn, name }: SeenBalancer, context: ChangeContext): Promise<void> {
  const { Attributes } = await aws.elb(context, (client, options) =>
    client.send(new DescribeLoadBalancerAttributesCommand({ LoadBalancerArn: arn }), options),
  );
  if (fromAwsTags(Attributes)["deletion_protection.enabled"] !== "true") return;
  const message = `load balancer ${name} is protected from deletion: disable its attribute deletion_protection.enabled`;
  throw new ProviderError("DELETION_PROTECTED", message, { resource: { type: "load balancer", name: arn } });
}

/** Finds target groups by name, also if no listener forwards to them, and only with the ownership tags. */
async function ownGroups(
  { reader }: Tools,
  ref: LoadBalancerRef,
  own: SeenBalancer | undefined,
  context: ChangeContext,
): Promise<readonly SeenGroup[]> {
  const all = await reader.groups(undefined, context);
  const forwardedTo = all.filter(({ details }) => own && (details.LoadBalancerArns ?? []).includes(own.arn));
  const named = all.filter(({ name }) => name.startsWith(groupPrefix(ref.key)));
  const tags = await reader.tags(
    named.map(({ arn }) => arn),
    context,
  );
  const owned = named.filter(({ arn }) => {
    const found = tags.get(arn) ?? {};
    return found[clusterIdTag] === ref.cluster.id && found[serviceUidTag] === ref.service.uid;
  });
  return [...new Set([...owned, ...forwardedTo])];
}
