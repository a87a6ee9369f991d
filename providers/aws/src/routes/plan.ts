import type { Route as AwsRoute } from "@aws-sdk/client-ec2";
import { type IpFamily, ProviderError, type WantedRoute } from "@cloudwire/provider-sdk";
import { BlockList, isIPv6 } from "node:net";
import { clusterIdTag, type Tags } from "../cloud/ownership.ts";
import { parseId, providerIdPrefix } from "../instances/provider-id.ts";

function familyOf(range: string): IpFamily {
  return isIPv6(range.split("/")[0] ?? "") ? "IPv6" : "IPv4";
}

/** A route of the table to a pod range. */
export interface PodRoute {
  readonly cidr: string;
  /** Undefined: to something that is no machine, or to one that is gone. */
  readonly instanceId: string | undefined;
  readonly isBlackhole: boolean;
  /** The cluster whose it is; undefined: nobody's. */
  readonly owner: string | undefined;
  /** True: to a gateway, an endpoint or the like, and thus made by hand. */
  readonly isForeign: boolean;
}

/** The tag of a table that says whose one route is, if it is not that of the cluster whose the table is. */
export function guestTag(cidr: string): string {
  return `cloudwire.dev/route/${cidr}`;
}

/** The pod ranges of the cluster: what lies within one is the cluster's. */
export class PodRanges {
  readonly #ranges: readonly string[];
  readonly #list = new BlockList();

  constructor(ranges: readonly string[]) {
    this.#ranges = ranges;
    for (const range of ranges) {
      const [address = "", bits] = range.split("/");
      this.#list.addSubnet(address, Number(bits), isIPv6(address) ? "ipv6" : "ipv4");
    }
  }

  /** By their first addresses; no route of a pod range is wider than the cluster's. */
  has(cidr: string): boolean {
    const [address = "", bits] = cidr.split("/");
    if (!this.#list.check(address, isIPv6(address) ? "ipv6" : "ipv4")) return false;
    return this.#ranges.some(
      (range) => familyOf(range) === familyOf(cidr) && Number(range.split("/")[1]) <= Number(bits),
    );
  }

  /** Families of which there are ranges. */
  get families(): readonly IpFamily[] {
    const has = (family: IpFamily): boolean => this.#ranges.some((range) => familyOf(range) === family);
    return (["IPv4", "IPv6"] as const).filter(has);
  }

  toString(): string {
    return this.#ranges.join(", ");
  }
}

/** The table's routes within the pod ranges. */
export function podRoutes(routes: readonly AwsRoute[], ranges: PodRanges, tags: Tags = {}): readonly PodRoute[] {
  return routes.flatMap(
    ({ DestinationCidrBlock, DestinationIpv6CidrBlock, InstanceId, NetworkInterfaceId, State, ...to }) => {
      const cidr = DestinationCidrBlock ?? DestinationIpv6CidrBlock;
      if (cidr === undefined || !ranges.has(cidr)) return [];
      const isBlackhole = State === "blackhole";
      const others = [
        to.GatewayId,
        to.NatGatewayId,
        to.TransitGatewayId,
        to.VpcPeeringConnectionId,
        to.EgressOnlyInternetGatewayId,
      ];
      const isForeign =
        others.some((id) => id !== undefined) ||
        (InstanceId === undefined && NetworkInterfaceId !== undefined && !isBlackhole);
      return [
        { cidr, instanceId: InstanceId, isBlackhole, isForeign, owner: tags[guestTag(cidr)] ?? tags[clusterIdTag] },
      ];
    },
  );
}

/** What is to be done for one wanted route. */
export type RouteStep =
  | { readonly kind: "refuse"; readonly problem: ProviderError }
  | { readonly kind: "keep"; readonly cidr: string; readonly instanceId: string }
  | { readonly kind: "create" | "replace"; readonly cidr: string; readonly instanceId: string };

/** @param targets machines that exist and are not terminated */
export function planRoute(
  wanted: Pick<WantedRoute, "destinationCidr" | "targetId" | "targetProviderId">,
  present: ReadonlyMap<string, PodRoute>,
  ranges: PodRanges,
  targets: ReadonlySet<string>,
  clusterId: string,
): RouteStep {
  const { destinationCidr: cidr, targetId, targetProviderId } = wanted;
  if (!ranges.has(cidr)) {
    const message = `${cidr} is not within the pod ranges ${ranges.toString()} that the provider was started with: add it to --pod-cidr`;
    return refuse("FIELD_INVALID", message);
  }
  const parsed = targetId === undefined ? undefined : parseId(targetId);
  if (parsed?.kind !== "instance" || !targets.has(parsed.instanceId)) {
    const message = `route to ${cidr}: ${targetProviderId} is no machine that EC2 has (${providerIdPrefix}/<zone>/i-…)`;
    return refuse("ROUTE_TARGET_NOT_FOUND", message);
  }
  const { instanceId } = parsed;
  const existing = present.get(cidr);
  if (existing === undefined) return { kind: "create", cidr, instanceId };
  if (!existing.isForeign && existing.owner !== clusterId) {
    return refuse("CIDR_CONFLICT", `the route table has a route to ${cidr} that is ${ownerWords(existing)}`);
  }
  if (existing.isForeign)
    return refuse(
      "CIDR_CONFLICT",
      `the route table has a route to ${cidr} that leads to no machine: somebody made it by hand`,
    );
  if (existing.instanceId === instanceId && !existing.isBlackhole) return { kind: "keep", cidr, instanceId };
  return { kind: "replace", cidr, instanceId };
}

/** Whose a route is, for people. */
export function ownerWords({ owner, isForeign }: Pick<PodRoute, "owner" | "isForeign">): string {
  return owner === undefined || isForeign ? "nobody's: somebody made it by hand" : `cluster ${owner}'s`;
}

function refuse(reason: "FIELD_INVALID" | "ROUTE_TARGET_NOT_FOUND" | "CIDR_CONFLICT", message: string): RouteStep {
  return { kind: "refuse", problem: new ProviderError(reason, message) };
}

/** The two ways in which AWS names a destination. */
export function destinationOf(cidr: string) {
  return isIPv6(cidr.split("/")[0] ?? "") ? { DestinationIpv6CidrBlock: cidr } : { DestinationCidrBlock: cidr };
}
