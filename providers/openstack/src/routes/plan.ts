import { ProviderError, type DesiredRoute } from "@cloudwire/provider-sdk";
import { canonicalAddress, parseCidr, type PodCidrs } from "@cloudwire/provider-sdk/addresses";

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
  const same = present.filter((route) => isSameRange(route.destination, destination));
  const removed = same.filter((route) => canonicalAddress(route.nexthop) !== canonicalAddress(nexthop));
  const route = { destination, nexthop };
  // The present one, in the router's spelling, by which it is listed and deleted.
  const kept = same.find((each) => !removed.includes(each));
  return kept !== undefined && removed.length === 0
    ? { kind: "keep", route: kept }
    : { kind: "write", route: kept ?? route, removed };
}

/** Whether two CIDRs have the same addresses, in any spelling. */
export function isSameRange(left: string, right: string): boolean {
  return left === right || (parseCidr(left) !== undefined && parseCidr(left)?.text === parseCidr(right)?.text);
}

/** Of a route that is listed or deleted. Two ways to one range are two routes. */
export function routeId({ destination, nexthop }: ExtraRoute): string {
  return `${destination}@${nexthop}`;
}
