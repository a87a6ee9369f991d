import { BlockList, isIP, isIPv6 } from "node:net";
import { type IpFamily, ProviderError, type WantedRoute } from "@cloudwire/provider-sdk";

/** A route of a router. */
export interface ExtraRoute {
  readonly destination: string;
  readonly nexthop: string;
}

/** The pod ranges of the cluster: what lies within one is the cluster's. */
export class PodRanges {
  readonly #ranges: readonly string[];
  readonly #list = new BlockList();

  constructor(ranges: readonly string[]) {
    this.#ranges = ranges;
    for (const range of ranges) {
      const [address = "", bits] = range.split("/");
      this.#list.addSubnet(address, Number(bits), kindOf(address));
    }
  }

  /** By their first addresses; no route of a pod range is wider than the cluster's. */
  has(cidr: string): boolean {
    const [address = "", bits] = cidr.split("/");
    if (!this.#list.check(address, kindOf(address))) return false;
    return this.#ranges.some(
      (range) => familyOf(range) === familyOf(cidr) && Number(range.split("/")[1]) <= Number(bits),
    );
  }

  /** Families of which there are ranges. */
  get families(): readonly IpFamily[] {
    return (["IPv4", "IPv6"] as const).filter((family) => this.#ranges.some((range) => familyOf(range) === family));
  }

  toString(): string {
    return this.#ranges.join(", ");
  }
}

/** True: an address range. */
export function isRange(text: string): boolean {
  const [address = "", bits = "", ...more] = text.split("/");
  const most = isIPv6(address) ? 128 : 32;
  return isIP(address) !== 0 && more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= most;
}

function kindOf(address: string): "ipv4" | "ipv6" {
  return isIPv6(address) ? "ipv6" : "ipv4";
}

export function familyOf(cidr: string): IpFamily {
  return isIPv6(cidr.split("/")[0] ?? "") ? "IPv6" : "IPv4";
}

/** What is to be done for one wanted route. */
export type RouteStep =
  | { readonly kind: "refuse"; readonly problem: ProviderError }
  | { readonly kind: "keep"; readonly route: ExtraRoute }
  /** `removed`: routes to the same range by other ways, which would share its traffic. */
  | { readonly kind: "write"; readonly route: ExtraRoute; readonly removed: readonly ExtraRoute[] };

type Wanted = Pick<WantedRoute, "destinationCidr" | "targetProviderId">;

/** @param nexthop address of the target in the range's family; undefined: Nova has no such server, or it has no such address */
export function planRoute(
  { destinationCidr: destination, targetProviderId }: Wanted,
  nexthop: string | undefined,
  present: readonly ExtraRoute[],
  ranges: PodRanges,
): RouteStep {
  if (!ranges.has(destination)) {
    const message = `${destination} is not within the pod ranges ${ranges.toString()} that the provider was started with: add it to --pod-cidr`;
    return { kind: "refuse", problem: new ProviderError("FIELD_INVALID", message) };
  }
  if (nexthop === undefined) {
    const message = `route to ${destination}: ${targetProviderId} is no server that Nova has, or it has no internal address of the range's family`;
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
