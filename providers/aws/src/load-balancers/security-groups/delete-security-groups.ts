import { DeleteSecurityGroupCommand, RevokeSecurityGroupIngressCommand } from "@aws-sdk/client-ec2";
import type { LoadBalancer } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { LoadBalancerRef } from "@cloudwire/provider-sdk";
import { isCode } from "../../cloud/errors.ts";
import type { Tools, Work } from "../tools.ts";
import { letsIn, refersTo, trafficOf } from "./rules.ts";

/** What is left of a load balancer, and what else uses it; undefined: only parts of AWS, which it deletes itself within minutes. */
export interface Remaining {
  readonly what: string;
  readonly usedBy: string | undefined;
}

/**
 * Deletes a Service's own security groups and the rules for them in the nodes' groups. Returns the remaining ones.
 * @param balancers all load balancers of the region but the Service's own
 */
export async function deleteSecurityGroups(
  tools: Tools,
  ref: LoadBalancerRef,
  balancers: readonly LoadBalancer[],
  work: Work,
): Promise<readonly Remaining[]> {
  const remaining: Remaining[] = [];
  for (const { GroupId: id } of await tools.reader.ownedSecurityGroups(ref.cluster.id, ref.service.uid, work.context)) {
    if (id === undefined) continue;
    const referring = await forget(tools, id, work);
    const planned = { action: "delete", resourceType: "security group", resourceId: id } as const;
    const isGone = await work.change(planned, () => deleteGroup(tools, id, work));
    if (isGone !== false) continue;
    remaining.push({ what: `security group ${id}`, usedBy: await userOf(tools, id, referring, balancers, work) });
  }
  return remaining;
}

/** False: something uses it. */
async function deleteGroup({ aws }: Tools, id: string, work: Work): Promise<boolean> {
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
}

/** Removes the rules that let all traffic of the group in. Answers the groups that have other rules for it. */
async function forget({ aws, reader }: Tools, groupId: string, work: Work): Promise<readonly string[]> {
  const referring: string[] = [];
  for (const { GroupId: id, IpPermissions } of await reader.securityGroupsWith(
    "ip-permission.group-id",
    [groupId],
    work.context,
  )) {
    if (id === undefined) continue;
    if (refersTo(IpPermissions, groupId)) referring.push(id);
    if (!letsIn(IpPermissions, groupId)) continue;
    const input = { GroupId: id, IpPermissions: [trafficOf(groupId)] };
    const planned = { action: "update", resourceType: "security group", resourceId: id } as const;
    await work.change({ ...planned, summary: `forgets ${groupId}` }, async () => {
      try {
        await aws.ec2(work.context, (client, options) =>
          client.send(new RevokeSecurityGroupIngressCommand(input), options),
        );
      } catch (error) {
        if (!isCode(error, "InvalidPermission.NotFound")) throw error;
      }
    });
  }
  return referring;
}

/** For people: the kind of what uses the group, and of rules the group that has them. */
async function userOf(
  { reader, machines }: Tools,
  id: string,
  referring: readonly string[],
  balancers: readonly LoadBalancer[],
  work: Work,
): Promise<string | undefined> {
  if (referring.length > 0) return rulesOf(referring);
  if (balancers.some(({ SecurityGroups = [] }) => SecurityGroups.includes(id))) return "another load balancer";
  const [sending, attached] = await Promise.all([
    reader.securityGroupsWith("egress.ip-permission.group-id", [id], work.context),
    machines.matching("network-interface.group-id", [id], [], work.context),
  ]);
  if (sending.length > 0) return rulesOf(sending.flatMap(({ GroupId }) => GroupId ?? []));
  return attached.length > 0 ? "the network interface of an instance" : undefined;
}

function rulesOf(groups: readonly string[]): string {
  return `rules of security group ${groups.join(", ")}`;
}
