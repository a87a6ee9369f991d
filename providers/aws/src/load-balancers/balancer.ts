import {
  AddTagsCommand,
  CreateLoadBalancerCommand,
  DescribeLoadBalancerAttributesCommand,
  ModifyLoadBalancerAttributesCommand,
  RemoveTagsCommand,
  SetIpAddressTypeCommand,
  SetSecurityGroupsCommand,
  SetSubnetsCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { ProviderError } from "@cloudwire/provider-sdk";
import { fromAwsTags, type Tags, toAwsTags } from "../cloud/ownership.ts";
import { changedEntries, sameSet } from "./diff.ts";
import type { SeenBalancer } from "./reader.ts";
import type { Tools, Work } from "./tools.ts";
import type { KnownSubnet } from "./subnets.ts";
import { specTag } from "./to-load-balancer.ts";
import type { NlbSpec } from "./desired/nlb-spec.ts";

/** The tag that lists the tags that the provider has set, so that it removes no others. */
export const ownTagsTag = "cloudwire.dev/own-tags";

/** Longest value of a tag. */
const maxTagValue = 256;

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
          Tags: toAwsTags(ownTags(nlb.tags)),
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

/** @param subnets undefined: it stays where it is */
export async function changeBalancer(
  tools: Tools,
  balancer: SeenBalancer,
  nlb: NlbSpec,
  subnets: readonly KnownSubnet[] | undefined,
  securityGroups: readonly string[],
  work: Work,
): Promise<void> {
  const { aws } = tools;
  const { arn, details } = balancer;
  const planned = { action: "update", resourceType: "load balancer", resourceId: balancer.name } as const;
  warnAboutFixed(balancer, nlb, work);
  if (!sameSet(securityGroups, details.SecurityGroups ?? [])) {
    const input = { LoadBalancerArn: arn, SecurityGroups: [...securityGroups] };
    await work.change({ ...planned, summary: `security groups ${securityGroups.join(", ")}` }, () =>
      aws.elb(work.context, (client, options) => client.send(new SetSecurityGroupsCommand(input), options)),
    );
  }
  const present = (details.AvailabilityZones ?? []).flatMap(({ SubnetId }) =>
    SubnetId === undefined ? [] : [SubnetId],
  );
  const ids = subnets?.map(({ id }) => id) ?? present;
  if (subnets && !sameSet(ids, present)) {
    const input = { LoadBalancerArn: arn, SubnetMappings: subnetMappings(nlb, subnets) };
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

/** Warns the user about changes of fields that cannot be changed. */
function warnAboutFixed({ name, details }: SeenBalancer, nlb: NlbSpec, work: Work): void {
  const scheme = nlb.isInternal ? "internal" : "internet-facing";
  if (details.Scheme === scheme) return;
  const summary = `Load balancer ${name} stays ${details.Scheme}: recreate the Service to make it ${scheme}`;
  const field = 'spec.annotations["service.beta.kubernetes.io/aws-load-balancer-internal"]';
  work.context.addDiagnostic({ reason: "SchemeKept", summary, field });
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

/** The tags, and the note which of them are the provider's. */
export function ownTags(tags: Tags): Tags {
  const keys = Object.keys(tags).toSorted();
  const note = keys.reduce((text, key) => (text.length + key.length < maxTagValue ? `${text} ${key}` : text), "");
  return { ...tags, [ownTagsTag]: note.trim() };
}

/** Tags that the provider has written and that are wanted no longer. */
export function staleTags(wanted: Tags, present: Tags): readonly string[] {
  const written = (present[ownTagsTag] ?? "").split(" ");
  return written.filter((key) => key !== "" && present[key] !== undefined && wanted[key] === undefined);
}

/** Updates the tags of a load balancer: adds missing ones, and removes those of the provider that are no longer desired. */
export async function writeTags(
  { aws }: Tools,
  { arn, name, present }: { readonly arn: string; readonly name: string; readonly present: Tags },
  wanted: Tags,
  work: Work,
): Promise<void> {
  const planned = { action: "update", resourceType: "load balancer", resourceId: name } as const;
  const stale = staleTags(wanted, present);
  if (stale.length > 0) {
    await work.change({ ...planned, summary: `remove the tags ${stale.join(", ")}` }, () =>
      aws.elb(work.context, (client, options) =>
        client.send(new RemoveTagsCommand({ ResourceArns: [arn], TagKeys: [...stale] }), options),
      ),
    );
  }
  const changed = changedEntries(wanted, present);
  if (Object.keys(changed).length === 0) return;
  await work.change({ ...planned, summary: `add the tags ${Object.keys(changed).join(", ")}` }, () =>
    aws.elb(work.context, (client, options) =>
      client.send(new AddTagsCommand({ ResourceArns: [arn], Tags: toAwsTags(changed) }), options),
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
