import {
  AuthorizeSecurityGroupIngressCommand,
  CreateSecurityGroupCommand,
  CreateTagsCommand,
  DeleteSecurityGroupCommand,
  RevokeSecurityGroupIngressCommand,
  type SecurityGroup,
} from "@aws-sdk/client-ec2";
import { type LoadBalancerRef, ProviderError, type DesiredLoadBalancer } from "@cloudwire/provider-sdk";
import type { CallScope } from "../../cloud/aws.ts";
import { isCode } from "../../cloud/errors.ts";
import { fromAwsTags, problemOfTags, type Tags, toAwsTags } from "../../cloud/ownership.ts";
import { changedEntries, differenceOf } from "../diff.ts";
import { adoptedTag } from "../find.ts";
import { securityGroupName } from "../names.ts";
import { fromPermissions, letsIn, ruleKey, toPermissions, trafficOf, wantedRules } from "./rules.ts";
import type { Tools, Work } from "../tools.ts";
import type { NlbSpec } from "../desired/nlb-spec.ts";

/** Returns the desired security groups of a load balancer, after creating its own one with the desired rules. */
export async function ensureSecurityGroups(
  tools: Tools,
  wanted: DesiredLoadBalancer,
  nlb: NlbSpec,
  adoptedArn: string | undefined,
  work: Work,
): Promise<readonly string[]> {
  const { sharedSecurityGroups } = tools.settings;
  if (nlb.securityGroups.length > 0) {
    if (adoptedArn !== undefined) await ensureOwnGroup(tools, wanted, nlb, adoptedArn, work);
    return [...new Set([...nlb.securityGroups, ...sharedSecurityGroups, ...nlb.extraSecurityGroups])];
  }
  const own = await ensureOwnGroup(tools, wanted, nlb, adoptedArn, work);
  if (own?.GroupId !== undefined) {
    await ensureRules(tools, own, own.GroupId, nlb, work);
    await ensureTags(tools, own, nlb.tags, work);
    await letNodesTakeTraffic(tools, own.GroupId, work);
  }
  return [...new Set([...(own?.GroupId ? [own.GroupId] : []), ...sharedSecurityGroups, ...nlb.extraSecurityGroups])];
}

/**
 * The security group that the provider makes.
 * @param adoptedArn the load balancer, if it has not the name by which it would be found
 */
export async function ensureOwnGroup(
  tools: Tools,
  wanted: DesiredLoadBalancer,
  nlb: NlbSpec,
  adoptedArn: string | undefined,
  work: Work,
): Promise<SecurityGroup | undefined> {
  const { reader } = tools;
  const [found] = await reader.ownedSecurityGroups(wanted.cluster.id, wanted.service.uid, work.context);
  if (found) {
    await ensureTags(tools, found, adoptedArn === undefined ? {} : { [adoptedTag]: adoptedArn }, work);
    return found;
  }
  const name = securityGroupName(wanted.key);
  const tags = { ...nlb.tags, ...(adoptedArn === undefined ? {} : { [adoptedTag]: adoptedArn }) };
  try {
    await work.change({ action: "create", resourceType: "security group", resourceId: name }, () =>
      create(tools, name, wanted, tags, work.context),
    );
  } catch (error) {
    if (!isCode(error, "InvalidGroup.Duplicate")) throw error;
  }
  if (work.context.validateOnly) return undefined;
  const [made] = await reader.securityGroupsWith("group-name", [name], work.context);
  if (made === undefined) {
    const message = `security group ${name} was created but cannot be read yet`;
    throw new ProviderError("NOT_READY", message, { retryAfterMs: 2_000 });
  }
  const owned = { what: "security group", id: made.GroupId ?? "", name, tags: fromAwsTags(made.Tags) };
  const problem = problemOfTags(owned, wanted);
  if (problem) throw problem;
  return made;
}

async function create(
  { aws, settings }: Tools,
  name: string,
  wanted: DesiredLoadBalancer,
  ownTags: Tags,
  on: CallScope,
) {
  const { namespace, name: service } = wanted.service;
  const tags = { ResourceType: "security-group", Tags: toAwsTags(ownTags) } as const;
  return aws.ec2(on, (client, options) =>
    client.send(
      new CreateSecurityGroupCommand({
        GroupName: name,
        // AWS allows few characters here, and those of names are among them.
        Description: `Clients of the load balancer of Service ${namespace}/${service}`,
        VpcId: settings.vpcId,
        TagSpecifications: [tags],
      }),
      options,
    ),
  );
}

async function ensureRules(
  { aws }: Tools,
  own: SecurityGroup,
  groupId: string,
  nlb: NlbSpec,
  work: Work,
): Promise<void> {
  const { added, removed } = differenceOf(wantedRules(nlb), fromPermissions(own.IpPermissions), ruleKey);
  const on = work.context;
  const planned = { action: "update", resourceType: "security group", resourceId: groupId } as const;
  if (added.length > 0) {
    await work.change({ ...planned, summary: `allow ${added.map(ruleKey).join(", ")}` }, () =>
      unlessCode("InvalidPermission.Duplicate", () =>
        aws.ec2(on, (client, options) =>
          client.send(
            new AuthorizeSecurityGroupIngressCommand({ GroupId: groupId, IpPermissions: toPermissions(added) }),
            options,
          ),
        ),
      ),
    );
  }
  if (removed.length > 0) {
    await work.change({ ...planned, summary: `remove ${removed.map(ruleKey).join(", ")}` }, () =>
      unlessCode("InvalidPermission.NotFound", () =>
        aws.ec2(on, (client, options) =>
          client.send(
            new RevokeSecurityGroupIngressCommand({ GroupId: groupId, IpPermissions: toPermissions(removed) }),
            options,
          ),
        ),
      ),
    );
  }
}

async function ensureTags({ aws }: Tools, group: SecurityGroup, wanted: Tags, work: Work): Promise<void> {
  const { GroupId: id } = group;
  const tags = changedEntries(wanted, fromAwsTags(group.Tags));
  if (id === undefined || Object.keys(tags).length === 0) return;
  const summary = `add the tags ${Object.keys(tags).join(", ")}`;
  await work.change({ action: "update", resourceType: "security group", resourceId: id, summary }, () =>
    aws.ec2(work.context, (client, options) =>
      client.send(new CreateTagsCommand({ Resources: [id], Tags: toAwsTags(tags) }), options),
    ),
  );
}

/** The nodes' groups allow traffic only from the load balancer's own group. */
async function letNodesTakeTraffic({ aws, reader, settings }: Tools, groupId: string, work: Work): Promise<void> {
  const wanted = settings.nodeSecurityGroups;
  const found = await reader.securityGroupsWith("group-id", wanted, work.context);
  for (const nodeGroup of wanted) {
    const known = found.find(({ GroupId }) => GroupId === nodeGroup);
    if (known && letsIn(known.IpPermissions, groupId)) continue;
    await work.change(
      { action: "update", resourceType: "security group", resourceId: nodeGroup, summary: `lets in ${groupId}` },
      () =>
        unlessCode("InvalidPermission.Duplicate", () =>
          aws.ec2(work.context, (client, options) =>
            client.send(
              new AuthorizeSecurityGroupIngressCommand({ GroupId: nodeGroup, IpPermissions: [trafficOf(groupId)] }),
              options,
            ),
          ),
        ),
    );
  }
}

/** Deletes a Service's own security groups and the rules for them in the nodes' groups. Returns the remaining ones. */
export async function deleteSecurityGroups(tools: Tools, ref: LoadBalancerRef, work: Work): Promise<readonly string[]> {
  const { aws, reader } = tools;
  const remaining: string[] = [];
  for (const { GroupId: id } of await reader.ownedSecurityGroups(ref.cluster.id, ref.service.uid, work.context)) {
    if (id === undefined) continue;
    await forget(tools, id, work);
    const isGone = await work.change({ action: "delete", resourceType: "security group", resourceId: id }, async () => {
      try {
        await aws.ec2(work.context, (client, options) =>
          client.send(new DeleteSecurityGroupCommand({ GroupId: id }), options),
        );
      } catch (error) {
        // The load balancer's network interfaces go some time after it.
        if (isCode(error, "DependencyViolation")) return false;
        if (!isCode(error, "InvalidGroup.NotFound")) throw error;
      }
      return true;
    });
    if (isGone === false) remaining.push(`security group ${id}`);
  }
  return remaining;
}

async function forget({ aws, reader }: Tools, groupId: string, work: Work): Promise<void> {
  for (const { GroupId: nodeGroup, IpPermissions } of await reader.securityGroupsWith(
    "ip-permission.group-id",
    [groupId],
    work.context,
  )) {
    if (nodeGroup === undefined || !letsIn(IpPermissions, groupId)) continue;
    await work.change(
      { action: "update", resourceType: "security group", resourceId: nodeGroup, summary: `forgets ${groupId}` },
      () =>
        unlessCode("InvalidPermission.NotFound", () =>
          aws.ec2(work.context, (client, options) =>
            client.send(
              new RevokeSecurityGroupIngressCommand({ GroupId: nodeGroup, IpPermissions: [trafficOf(groupId)] }),
              options,
            ),
          ),
        ),
    );
  }
}

/** This code means that the rule exists already. */
async function unlessCode(code: string, act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isCode(error, code)) throw error;
  }
}
