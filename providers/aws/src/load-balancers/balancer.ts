import {
  AddTagsCommand,
  CreateLoadBalancerCommand,
  DescribeLoadBalancerAttributesCommand,
  ModifyLoadBalancerAttributesCommand,
  SetIpAddressTypeCommand,
  SetSecurityGroupsCommand,
  SetSubnetsCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { ProviderError } from "@cloudwire/provider-sdk";
import { fromAwsTags, toAwsTags } from "../cloud/ownership.ts";
import { changedEntries, sameSet } from "./diff.ts";
import { fixedAddresses, reportFixed } from "./fixed.ts";
import type { SeenBalancer } from "./reader.ts";
import type { Tools, Work } from "./tools.ts";
import type { KnownSubnet } from "./subnets.ts";
import { withOwnTags } from "./tags/own-tags.ts";
import { specTag } from "./to-load-balancer.ts";
import type { NlbSpec } from "./desired/nlb-spec.ts";

/** Undefined for a planned change. */
export async function createBalancer(
  { aws }: Tools,
  nlb: NlbSpec,
  subnets: readonly KnownSubnet[],
  securityGroups: readonly string[],
  work: Work,
): Promise<string | undefined> {
  const ports = nlb.listeners.map(({ port, protocol }) => `${port}/${protocol}`).join(", ");
  const summary = `${nlb.isInternal ? "internal" : "internet-facing"}, ${nlb.addressType}, ports ${ports}`;
  const planned = { action: "create", resourceType: "load balancer", resourceId: nlb.name, summary } as const;
  const mappings = subnetMappings(nlb, subnets);
  return work.change(planned, async () => {
    const { LoadBalancers = [] } = await aws.elb(work.context, (client, options) =>
      client.send(
        new CreateLoadBalancerCommand({
          Name: nlb.name,
          Type: "network",
          Scheme: nlb.isInternal ? "internal" : "internet-facing",
          IpAddressType: nlb.addressType,
          SubnetMappings: mappings,
          SecurityGroups: [...securityGroups],
          Tags: toAwsTags(withOwnTags(nlb.tags)),
        }),
        options,
      ),
    );
    return LoadBalancers[0]?.LoadBalancerArn;
  });
}

/** Where the load balancer is in each zone, with its static address. @throws ProviderError unless each subnet has one, or none */
export function subnetMappings(
  { allocationIds, privateAddresses }: Pick<NlbSpec, "allocationIds" | "privateAddresses">,
  subnets: readonly KnownSubnet[],
) {
  for (const [name, addresses] of [
    ["eip-allocations", allocationIds],
    ["private-ipv4-addresses", privateAddresses],
  ] as const) {
    if (addresses.length === 0 || addresses.length === subnets.length) continue;
    const key = `service.beta.kubernetes.io/aws-load-balancer-${name}`;
    const zones = subnets.map(({ zone }) => zone).join(", ");
    const message = `annotation ${key} has ${addresses.length} addresses for ${subnets.length} subnets, in ${zones}: give one for each`;
    throw new ProviderError("ANNOTATION_INVALID", message, { field: `spec.annotations[${JSON.stringify(key)}]` });
  }
  return subnets.map(({ id }, index) => ({
    SubnetId: id,
    ...(allocationIds[index] === undefined ? {} : { AllocationId: allocationIds[index] }),
    ...(privateAddresses[index] === undefined ? {} : { PrivateIPv4Address: privateAddresses[index] }),
  }));
}

export async function changeBalancer(
  tools: Tools,
  balancer: SeenBalancer,
  nlb: NlbSpec,
  subnets: readonly KnownSubnet[],
  securityGroups: readonly string[],
  work: Work,
): Promise<void> {
  const { aws } = tools;
  const { arn, details } = balancer;
  const planned = { action: "update", resourceType: "load balancer", resourceId: balancer.name } as const;
  reportFixed(balancer, nlb, subnets, work);
  if (!sameSet(securityGroups, details.SecurityGroups ?? [])) {
    const input = { LoadBalancerArn: arn, SecurityGroups: [...securityGroups] };
    await work.change({ ...planned, summary: `security groups ${securityGroups.join(", ")}` }, () =>
      aws.elb(work.context, (client, options) => client.send(new SetSecurityGroupsCommand(input), options)),
    );
  }
  const present = (details.AvailabilityZones ?? []).flatMap(({ SubnetId }) =>
    SubnetId === undefined ? [] : [SubnetId],
  );
  const ids = subnets.map(({ id }) => id);
  if (!sameSet(ids, present)) {
    const fixed = fixedAddresses(balancer);
    const mappings = subnetMappings(nlb, subnets).map((mapping) => ({ ...mapping, ...fixed.get(mapping.SubnetId) }));
    const input = { LoadBalancerArn: arn, SubnetMappings: mappings };
    await work.change({ ...planned, summary: `subnets ${ids.join(", ")}` }, () =>
      aws.elb(work.context, (client, options) => client.send(new SetSubnetsCommand(input), options)),
    );
  }
  // After the subnets: those of before perhaps had no range of IPv6.
  if (details.IpAddressType !== nlb.addressType) {
    const input = { LoadBalancerArn: arn, IpAddressType: nlb.addressType };
    await work.change({ ...planned, summary: nlb.addressType }, () =>
      aws.elb(work.context, (client, options) => client.send(new SetIpAddressTypeCommand(input), options)),
    );
  }
}

export async function ensureAttributes({ aws }: Tools, arn: string, nlb: NlbSpec, work: Work): Promise<void> {
  const { Attributes } = await aws.elb(work.context, (client, options) =>
    client.send(new DescribeLoadBalancerAttributesCommand({ LoadBalancerArn: arn }), options),
  );
  const changed = changedEntries(nlb.attributes, fromAwsTags(Attributes));
  if (Object.keys(changed).length === 0) return;
  const summary = `attributes ${Object.keys(changed).join(", ")}`;
  await work.change({ action: "update", resourceType: "load balancer", resourceId: nlb.name, summary }, () =>
    aws.elb(work.context, (client, options) =>
      client.send(
        new ModifyLoadBalancerAttributesCommand({ LoadBalancerArn: arn, Attributes: toAwsTags(changed) }),
        options,
      ),
    ),
  );
}

/** Before anything is changed for another spec: the old one is in force no longer, even if this call does not get far. */
export async function voidSpec({ aws }: Tools, { arn, tags }: SeenBalancer, wanted: string, work: Work): Promise<void> {
  const present = tags[specTag];
  if (present === undefined || present === wanted || present === "" || work.context.validateOnly) return;
  await aws.elb(work.context, (client, options) =>
    client.send(new AddTagsCommand({ ResourceArns: [arn], Tags: [{ Key: specTag, Value: "" }] }), options),
  );
}
