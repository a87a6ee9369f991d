import {
  CreateTargetGroupCommand,
  DeleteTargetGroupCommand,
  DescribeTargetGroupAttributesCommand,
  ModifyTargetGroupAttributesCommand,
  ModifyTargetGroupCommand,
  type TargetGroup,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { ProviderError, type DesiredLoadBalancer } from "@cloudwire/provider-sdk";
import { isCode } from "../../cloud/errors.ts";
import { fromAwsTags, problemOfTags, type Tags, toAwsTags } from "../../cloud/ownership.ts";
import { changedEntries } from "../diff.ts";
import type { SeenGroup } from "../reader.ts";
import type { Remaining } from "../security-groups/delete-security-groups.ts";
import type { Tools, Work } from "../tools.ts";
import { withOwnTags } from "../tags/own-tags.ts";
import type { TargetedGroup } from "./targets.ts";
import type { DesiredTargetGroup, NlbSpec } from "../desired/nlb-spec.ts";

/** Makes every wanted group exist as wanted; groups that are wanted no longer stay until nothing forwards to them. */
export async function ensureGroups(
  tools: Tools,
  wanted: DesiredLoadBalancer,
  nlb: NlbSpec,
  present: readonly SeenGroup[],
  work: Work,
): Promise<readonly TargetedGroup[]> {
  const groups: TargetedGroup[] = [];
  for (const group of nlb.listeners.map((listener) => listener.group)) {
    const seen = present.find(({ name }) => name === group.name);
    const { arn, isNew } = seen ? { ...seen, isNew: false } : await createGroup(tools, wanted, nlb.tags, group, work);
    groups.push({ name: group.name, arn, isNew });
    if (arn === undefined) continue;
    if (seen) await changeProbe(tools, seen, group, work);
    await changeAttributes(tools, arn, group, work);
  }
  return groups;
}

async function createGroup(
  { aws, reader, settings }: Tools,
  wanted: DesiredLoadBalancer,
  tags: Tags,
  group: DesiredTargetGroup,
  work: Work,
): Promise<Pick<TargetedGroup, "arn" | "isNew">> {
  const summary = `${group.protocol} to node port ${group.port}`;
  const made = await work.change(
    { action: "create", resourceType: "target group", resourceId: group.name, summary },
    async () => {
      const input = {
        Name: group.name,
        Protocol: group.protocol,
        Port: group.port,
        VpcId: settings.vpcId,
        TargetType: "instance",
        ...(group.ipFamily === "ipv6" ? { IpAddressType: group.ipFamily } : {}),
        ...probeOf(group),
        HealthCheckProtocol: group.probe.protocol,
        HealthCheckIntervalSeconds: group.probe.intervalSeconds,
        Tags: toAwsTags(withOwnTags(tags)),
      } as const;
      try {
        const { TargetGroups = [] } = await aws.elb(work.context, (client, options) =>
          client.send(new CreateTargetGroupCommand(input), options),
        );
        return { arn: TargetGroups[0]?.TargetGroupArn, isNew: true };
      } catch (error) {
        if (!isCode(error, "DuplicateTargetGroupName")) throw error;
      }
      // An earlier call that was interrupted has made it.
      const found = await reader.groupNamed(group.name, work.context);
      if (found === undefined)
        throw new ProviderError("NOT_READY", `target group ${group.name} is being deleted; it is recreated afterwards`);
      const foundTags = (await reader.tags([found.arn], work.context)).get(found.arn) ?? {};
      const owned = { what: "target group", id: found.arn, name: found.name, tags: foundTags };
      const problem = problemOfTags(owned, wanted);
      if (problem) throw problem;
      return { arn: found.arn, isNew: false };
    },
  );
  return made ?? { arn: undefined, isNew: true };
}

/** What can be changed of a health check. */
function probeOf({ probe }: DesiredTargetGroup) {
  return {
    HealthCheckPort: probe.port,
    ...(probe.path === undefined ? {} : { HealthCheckPath: probe.path }),
    HealthCheckTimeoutSeconds: probe.timeoutSeconds,
    HealthyThresholdCount: probe.healthyCount,
    UnhealthyThresholdCount: probe.unhealthyCount,
  } as const;
}

async function changeProbe(
  { aws }: Tools,
  { arn, details }: SeenGroup,
  group: DesiredTargetGroup,
  work: Work,
): Promise<void> {
  const wanted = probeOf(group);
  if (hasProbe(details, wanted)) return;
  const summary = "another health check";
  await work.change({ action: "update", resourceType: "target group", resourceId: group.name, summary }, () =>
    aws.elb(work.context, (client, options) =>
      client.send(new ModifyTargetGroupCommand({ TargetGroupArn: arn, ...wanted }), options),
    ),
  );
}

/** True: the group asks its targets as wanted. */
function hasProbe(details: TargetGroup, wanted: ReturnType<typeof probeOf>): boolean {
  const have: Readonly<Record<string, unknown>> = { ...details };
  return Object.entries(wanted).every(([key, value]) => String(have[key]) === String(value));
}

async function changeAttributes({ aws }: Tools, arn: string, group: DesiredTargetGroup, work: Work): Promise<void> {
  const { Attributes } = await aws.elb(work.context, (client, options) =>
    client.send(new DescribeTargetGroupAttributesCommand({ TargetGroupArn: arn }), options),
  );
  const changed = changedEntries(group.attributes, fromAwsTags(Attributes));
  if (Object.keys(changed).length === 0) return;
  const summary = `attributes ${Object.keys(changed).join(", ")}`;
  await work.change({ action: "update", resourceType: "target group", resourceId: group.name, summary }, () =>
    aws.elb(work.context, (client, options) =>
      client.send(
        new ModifyTargetGroupAttributesCommand({ TargetGroupArn: arn, Attributes: toAwsTags(changed) }),
        options,
      ),
    ),
  );
}

/** Deletes target groups. Returns those that are still in use. @param ownArn the load balancer that no longer forwards to them */
export async function deleteGroups(
  { aws }: Tools,
  groups: readonly SeenGroup[],
  ownArn: string | undefined,
  work: Work,
): Promise<readonly Remaining[]> {
  const remaining: Remaining[] = [];
  for (const { arn, name, details } of groups) {
    const isGone = await work.change({ action: "delete", resourceType: "target group", resourceId: name }, async () => {
      try {
        await aws.elb(work.context, (client, options) =>
          client.send(new DeleteTargetGroupCommand({ TargetGroupArn: arn }), options),
        );
      } catch (error) {
        if (isCode(error, "ResourceInUse")) return false;
        if (!isCode(error, "TargetGroupNotFound")) throw error;
      }
      return true;
    });
    if (isGone !== false) continue;
    const isUsedByOther = (details.LoadBalancerArns ?? []).some((other) => other !== ownArn);
    remaining.push({ what: `target group ${name}`, usedBy: isUsedByOther ? "another load balancer" : undefined });
  }
  return remaining;
}
