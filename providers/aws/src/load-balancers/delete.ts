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
import { fromAwsTags } from "../cloud/ownership.ts";
import { findBalancer } from "./find.ts";
import type { SeenBalancer } from "./reader.ts";
import { deleteSecurityGroups } from "./security-groups/delete-security-groups.ts";
import { type Tools, Work } from "./tools.ts";
import { ownGroups } from "./target-groups/own-groups.ts";
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
  const { own, all } = await findBalancer(tools, ref, context);
  const groups = await ownGroups(tools, ref, own, context);
  if (own) {
    await checkProtection(tools, own, context);
    await work.change({ action: "delete", resourceType: "load balancer", resourceId: own.name }, () =>
      tools.aws.elb(context, (client, options) =>
        client.send(new DeleteLoadBalancerCommand({ LoadBalancerArn: own.arn }), options),
      ),
    );
  }
  const others = all.filter(({ LoadBalancerArn }) => LoadBalancerArn !== own?.arn);
  const remaining = [
    ...(await deleteGroups(tools, groups, own?.arn, work)),
    ...(await deleteSecurityGroups(tools, ref, others, work)),
  ];
  if (remaining.length === 0) return undefined;
  const users = remaining.flatMap(({ usedBy }) => usedBy ?? []);
  const isUsed = users.length > 0;
  return pending(own?.arn ?? ref.id ?? ref.key, {
    pollAfterMs,
    stage: isUsed ? "waiting until no other resource uses it" : "deleting network interfaces",
    ...(isUsed ? { message: `To continue, remove the use by ${users.join(" and by ")}` } : {}),
    remaining: remaining.map(({ what, usedBy }) => (usedBy === undefined ? what : `${what}, used by ${usedBy}`)),
  });
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
