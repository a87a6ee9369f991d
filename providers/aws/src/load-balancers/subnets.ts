import { DescribeSubnetsCommand, type Filter, type Subnet } from "@aws-sdk/client-ec2";
import { ProviderError } from "@cloudwire/provider-sdk";
import type { AwsCalls, CallScope } from "../cloud/aws.ts";
import { fromAwsTags } from "../cloud/ownership.ts";
import { readAll } from "../cloud/pages.ts";

export interface SubnetChoice {
  readonly isInternal: boolean;
  readonly addressType: "ipv4" | "dualstack";
  /** Ids or names. */
  readonly named: readonly string[];
}

/** A subnet that a load balancer can be in. */
export interface KnownSubnet {
  readonly id: string;
  readonly zone: string;
  /** True: it has a range of IPv6. */
  readonly hasIpv6: boolean;
  readonly tags: Readonly<Record<string, string>>;
}

/** The subnets for a load balancer, one per zone, in the order of their zones. @throws ProviderError if there is none */
export async function findSubnets(
  aws: AwsCalls,
  vpcId: string,
  choice: SubnetChoice,
  callScope: CallScope,
): Promise<readonly KnownSubnet[]> {
  const filters: Filter[] = [{ Name: "vpc-id", Values: [vpcId] }];
  const found = await readAll(async (token) => {
    const { Subnets = [], NextToken } = await aws.ec2(callScope, (client, options) =>
      client.send(new DescribeSubnetsCommand({ Filters: filters, NextToken: token, MaxResults: 1000 }), options),
    );
    return { items: Subnets, next: NextToken };
  });
  const subnets = found.flatMap(knownSubnet);
  const chosen =
    choice.named.length === 0 ? discover(subnets, choice.isInternal, vpcId) : pick(subnets, choice.named, vpcId);
  if (choice.addressType === "dualstack") requireIpv6(chosen);
  return chosen;
}

/** @throws ProviderError for subnets that have no addresses for a load balancer of both families */
export function requireIpv6(subnets: readonly KnownSubnet[]): void {
  const without = subnets.filter(({ hasIpv6 }) => !hasIpv6).map(({ id }) => id);
  if (without.length === 0) return;
  const message = `${without.join(", ")} have no IPv6 CIDR for a dualstack load balancer: add one, or set the annotation for the ip-address-type to ipv4`;
  throw new ProviderError("CLOUD_SETUP_INVALID", message, { field: "spec.ip_families" });
}

/** Tags that mark subnets for load balancers, as AWS' own controller reads them. */
function roleTag(isInternal: boolean): string {
  return isInternal ? "kubernetes.io/role/internal-elb" : "kubernetes.io/role/elb";
}

/** Of each zone the first subnet with the role's tag; those tagged for a cluster before others. */
export function discover(subnets: readonly KnownSubnet[], isInternal: boolean, vpcId: string): readonly KnownSubnet[] {
  const role = roleTag(isInternal);
  const tagged = subnets
    .filter(({ tags }) => tags[role] === "1" || tags[role] === "")
    .toSorted((left, right) => clusterRank(left) - clusterRank(right) || left.id.localeCompare(right.id));
  if (tagged.length > 0) return onePerZone(tagged);
  const message = `no subnet of ${vpcId} has the tag ${role}=1: tag one in each zone, or name subnets in an annotation`;
  throw new ProviderError("CLOUD_SETUP_INVALID", message);
}

function clusterRank({ tags }: KnownSubnet): number {
  return Object.keys(tags).some((key) => key.startsWith("kubernetes.io/cluster/")) ? 0 : 1;
}

/** The subnets that are named by id or by their tag Name. */
export function pick(subnets: readonly KnownSubnet[], named: readonly string[], vpcId: string): readonly KnownSubnet[] {
  const found = named.map((name) => subnets.find(({ id, tags }) => id === name || tags["Name"] === name));
  const missing = named.filter((_, index) => found[index] === undefined);
  const picked = found.filter((subnet) => subnet !== undefined);
  const chosen = onePerZone(picked);
  if (missing.length === 0 && chosen.length === picked.length) return chosen;
  const problem =
    missing.length > 0 ? `${vpcId} has no subnet ${missing.join(", ")}` : `of ${named.join(", ")} two are in one zone`;
  const field = 'spec.annotations["service.beta.kubernetes.io/aws-load-balancer-subnets"]';
  throw new ProviderError("ANNOTATION_INVALID", problem, { field });
}

function onePerZone(subnets: readonly KnownSubnet[]): readonly KnownSubnet[] {
  const byZone = Map.groupBy(subnets, ({ zone }) => zone);
  return [...byZone.values()]
    .flatMap(([first]) => (first ? [first] : []))
    .toSorted((left, right) => left.zone.localeCompare(right.zone));
}

function knownSubnet({
  SubnetId,
  AvailabilityZone,
  Ipv6CidrBlockAssociationSet = [],
  Tags,
}: Subnet): readonly KnownSubnet[] {
  if (SubnetId === undefined || AvailabilityZone === undefined) return [];
  const hasIpv6 = Ipv6CidrBlockAssociationSet.some(
    ({ Ipv6CidrBlockState }) => Ipv6CidrBlockState?.State === "associated",
  );
  return [{ id: SubnetId, zone: AvailabilityZone, hasIpv6, tags: fromAwsTags(Tags) }];
}
