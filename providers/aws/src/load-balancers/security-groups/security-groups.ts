import {
  AuthorizeSecurityGroupIngressCommand,
  CreateSecurityGroupCommand,
  RevokeSecurityGroupIngressCommand,
  type SecurityGroup,
} from "@aws-sdk/client-ec2";
import { inHalves, ProviderError, type DesiredLoadBalancer } from "@cloudwire/provider-sdk";
import type { AwsCalls, CallScope } from "../../cloud/aws.ts";
import { isCode } from "../../cloud/errors.ts";
import { fromAwsTags, problemOfTags, type Tags, toAwsTags } from "../../cloud/ownership.ts";
import { differenceOf } from "../diff.ts";
import { exchange } from "../exchange.ts";
import { adoptedTag } from "../find.ts";
import { securityGroupName } from "../names.ts";
import {
  fromPermissions,
  isForTraffic,
  letsIn,
  ruleKey,
  type SecurityRule,
  toPermissions,
  trafficOf,
  wantedRules,
} from "./rules.ts";
import { withOwnTags } from "../tags/own-tags.ts";
import { writeTags } from "../tags/write-tags.ts";
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
    await ensureTags(tools, own, withOwnTags(nlb.tags), work);
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
    const tags = fromAwsTags(found.Tags);
    if (adoptedArn !== undefined) await ensureTags(tools, found, { ...tags, [adoptedTag]: adoptedArn }, work);
    return found;
  }
  const name = securityGroupName(wanted.key);
  const tags = { ...withOwnTags(nlb.tags), ...(adoptedArn === undefined ? {} : { [adoptedTag]: adoptedArn }) };
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
  const present = fromPermissions(own.IpPermissions);
  const { added, removed } = differenceOf(wantedRules(nlb), present, ruleKey);
  if (added.length === 0 && removed.length === 0) return;
  const words = [
    ...(added.length === 0 ? [] : [`allow ${added.map(ruleKey).join(", ")}`]),
    ...(removed.length === 0 ? [] : [`remove ${removed.map(ruleKey).join(", ")}`]),
  ];
  const planned = { action: "update", resourceType: "security group", resourceId: groupId } as const;
  const kept = present.filter((rule) => isForTraffic(rule) && !removed.includes(rule)).length;
  // At a quota those go first and come last that no client depends on.
  const difference = {
    added: [...added.filter(isForTraffic), ...added.filter((rule) => !isForTraffic(rule))],
    removed: [...removed.filter((rule) => !isForTraffic(rule)), ...removed.filter(isForTraffic)],
  };
  await work.change({ ...planned, summary: words.join(", ") }, () =>
    exchange(
      { ...difference, kept, wantsNone: false },
      {
        add: async (rules) => {
          await authorize(aws, groupId, rules, work.context);
          return rules.length;
        },
        remove: (rules) => revoke(aws, groupId, rules, work.context),
        isFull: (error) => isCode(error, "RulesPerSecurityGroupLimitExceeded"),
      },
    ),
  );
}

/** A rule that exists already is only that rule's success: AWS then adds none of the request. */
async function authorize(aws: AwsCalls, GroupId: string, rules: readonly SecurityRule[], on: CallScope): Promise<void> {
  const request = (items: readonly SecurityRule[]) =>
    aws.ec2(on, (client, options) =>
      client.send(new AuthorizeSecurityGroupIngressCommand({ GroupId, IpPermissions: toPermissions(items) }), options),
    );
  await inHalves(rules, request, (error) => isCode(error, "InvalidPermission.Duplicate"));
}

/** Likewise for a rule that does not exist. */
async function revoke(aws: AwsCalls, GroupId: string, rules: readonly SecurityRule[], on: CallScope): Promise<void> {
  const request = (items: readonly SecurityRule[]) =>
    aws.ec2(on, (client, options) =>
      client.send(new RevokeSecurityGroupIngressCommand({ GroupId, IpPermissions: toPermissions(items) }), options),
    );
  await inHalves(rules, request, (error) => isCode(error, "InvalidPermission.NotFound"));
}

async function ensureTags(tools: Tools, group: SecurityGroup, wanted: Tags, work: Work): Promise<void> {
  const { GroupId: id } = group;
  if (id === undefined) return;
  const part = { resourceType: "security group", id, name: id, present: fromAwsTags(group.Tags) } as const;
  await writeTags(tools, part, wanted, work);
}

/** The nodes' groups allow traffic only from the load balancer's own group. */
async function letNodesTakeTraffic({ aws, reader, settings }: Tools, groupId: string, work: Work): Promise<void> {
  const wanted = settings.nodeSecurityGroups;
  const found = await reader.securityGroupsWith("group-id", wanted, work.context);
  for (const nodeGroup of wanted) {
    const known = found.find(({ GroupId }) => GroupId === nodeGroup);
    if (known === undefined) {
      const message = `there is no security group ${nodeGroup} in this account and region: check --node-security-group`;
      throw new ProviderError("CLOUD_SETUP_INVALID", message);
    }
    if (letsIn(known.IpPermissions, groupId)) continue;
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

/** This code means that the rule exists already. */
async function unlessCode(code: string, act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isCode(error, code)) throw error;
  }
}
