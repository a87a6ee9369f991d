import { ProviderError, type DesiredRoute } from "@cloudwire/provider-sdk";
import type { PodCidrs } from "@cloudwire/provider-sdk/addresses";

/** A route of a router. */
export interface ExtraRoute {
  readonly destination: string;
  readonly nexthop: string;
}

/** The action for one desired route. */
export type RouteStep =
  | { readonly kind: "refuse"; readonly problem: ProviderError }
  | { readonly kind: "keep"; readonly route: ExtraRoute }
  /** `removed`: routes to the same range by other ways, which would share its traffic. */
  | { readonly kind: "write"; readonly route: ExtraRoute; readonly removed: readonly ExtraRoute[] };

type Wanted = Pick<DesiredRoute, "destinationCidr" | "targetProviderId">;

/** @param nexthop address of the target in the range's family; undefined: Nova has no such server, or it has no such address */
export function planRoute(
  { destinationCidr: destination, targetProviderId }: Wanted,
  nexthop: string | undefined,
  present: readonly ExtraRoute[],
  podCidrs: PodCidrs,
): RouteStep {
  if (!podCidrs.has(destination)) {
    const message = `${destination} is not within the pod CIDRs ${podCidrs.toString()} that the provider was started with: add it to --pod-cidr`;
    return { kind: "refuse", problem: new ProviderError("FIELD_INVALID", message) };
  }
  if (nexthop === undefined) {
    const message = `route to ${destination}: ${targetProviderId} is not a Nova server, or has no internal address of the CIDR's family`;
    return { kind: "refuse", problem: new ProviderError("ROUTE_TARGET_NOT_FOUND", message) };
  }
  const same = present.filter((route) => route.destination === destination);
  const removed = same.filter((route) => route.nexthop !== nexthop);
  const route = { destination, nexthop };
  return removed.length === 0 && same.length > 0 ? { kind: "keep", route } : { kind: "write", route, removed };
}

/** Of a route that is listed or deleted. Two ways to one range are two routes. */
export function routeId({ destination, nexthop }: ExtraRoute): string {
  return `${destination}@${nexthop}`;
}
