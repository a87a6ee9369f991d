import type { Route as AwsRoute } from "@aws-sdk/client-ec2";
import { ProviderError, type DesiredRoute } from "@cloudwire/provider-sdk";
import { parseCidr, type PodCidrs } from "@cloudwire/provider-sdk/addresses";
import { clusterIdTag, type Tags } from "../cloud/ownership.ts";
import { parseId, providerIdPrefix } from "../instances/provider-id.ts";

/** A route of the table to a pod CIDR. */
export interface PodRoute {
  readonly cidr: string;
  /** Undefined: the target is not an instance, or does not exist. */
  readonly instanceId: string | undefined;
  readonly isBlackhole: boolean;
  /** The owning cluster; undefined: none. */
  readonly owner: string | undefined;
  /** True: to a gateway, an endpoint or the like, and thus made by hand. */
  readonly isForeign: boolean;
}

/** The table's tag with the owner of one route, if it differs from the owner of the table. */
export function guestTag(cidr: string): string {
  return `cloudwire.dev/route/${cidr}`;
}

/** Destinations are compared in this form, which is also AWS' own. */
export function canonicalCidr(text: string): string {
  return parseCidr(text)?.text ?? text;
}

/** The table's routes within the pod CIDRs. */
export function podRoutes(routes: readonly AwsRoute[], podCidrs: PodCidrs, tags: Tags = {}): readonly PodRoute[] {
  return routes.flatMap(
    ({ DestinationCidrBlock, DestinationIpv6CidrBlock, InstanceId, NetworkInterfaceId, State, ...to }) => {
      const cidr = canonicalCidr(DestinationCidrBlock ?? DestinationIpv6CidrBlock ?? "");
      if (!podCidrs.has(cidr)) return [];
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

/** The action for one desired route. */
export type RouteStep =
  | { readonly kind: "refuse"; readonly problem: ProviderError }
  | { readonly kind: "keep"; readonly cidr: string; readonly instanceId: string }
  | { readonly kind: "create" | "replace"; readonly cidr: string; readonly instanceId: string };

/** @param targets machines that exist and are not terminated */
export function planRoute(
  wanted: Pick<DesiredRoute, "destinationCidr" | "targetId" | "targetProviderId">,
  present: ReadonlyMap<string, PodRoute>,
  podCidrs: PodCidrs,
  targets: ReadonlySet<string>,
  clusterId: string,
): RouteStep {
  const { targetId, targetProviderId } = wanted;
  const cidr = canonicalCidr(wanted.destinationCidr);
  if (!podCidrs.has(cidr)) {
    const message = `${cidr} is not within the pod CIDRs ${podCidrs.toString()} that the provider was started with: add it to --pod-cidr`;
    return refuse("FIELD_INVALID", message);
  }
  const parsed = targetId === undefined ? undefined : parseId(targetId);
  if (parsed?.kind !== "instance" || !targets.has(parsed.instanceId)) {
    const message = `route to ${cidr}: ${targetProviderId} is not an EC2 instance (${providerIdPrefix}/<zone>/i-…)`;
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
      `the route table has a route to ${cidr} without an instance as target, which a user created`,
    );
  if (existing.instanceId === instanceId && !existing.isBlackhole) return { kind: "keep", cidr, instanceId };
  return { kind: "replace", cidr, instanceId };
}

/** Describes the owner of a route. */
export function ownerWords({ owner, isForeign }: Pick<PodRoute, "owner" | "isForeign">): string {
  return owner === undefined || isForeign ? "not owned by a cluster: a user created it" : `cluster ${owner}'s`;
}

function refuse(reason: "FIELD_INVALID" | "ROUTE_TARGET_NOT_FOUND" | "CIDR_CONFLICT", message: string): RouteStep {
  return { kind: "refuse", problem: new ProviderError(reason, message) };
}

/** The two ways in which AWS names a destination. */
export function destinationOf(cidr: string) {
  return parseCidr(cidr)?.family === 6 ? { DestinationIpv6CidrBlock: cidr } : { DestinationCidrBlock: cidr };
}
