import type { Node, NodeAddress } from "../../../api/node.ts";
import type { ProviderInfo, RouteCapabilities } from "../../../provider/model/info.ts";
import type { KnownRoute } from "../route-table.ts";

/** What decides whether a route leads where a Node wants it. */
export interface TargetRules {
  readonly capability: RouteCapabilities;
  /** Ways to write this provider's IDs; all mean the same. */
  readonly prefixes: readonly string[];
}

export function targetRulesOf(info: ProviderInfo, capability: RouteCapabilities): TargetRules {
  return { capability, prefixes: info.providerIdPrefixes };
}

/** The route leads to the Node's machine, and over its addresses where the provider cares. */
export function isAsWished({ route, madeFor }: KnownRoute, node: Node, rules: TargetRules): boolean {
  if (route.blackhole) return false;
  const { providerID } = node.spec;
  const isTarget = madeFor === providerID || isSameMachine(route.targetProviderId, providerID, rules.prefixes);
  return isTarget && (!rules.capability.targetAddresses || hasSameAddresses(route.targetAddresses, node));
}

/** IDs are compared as text, but for the prefix: a provider that took over from another may know several. */
function isSameMachine(left: string, right: string, prefixes: readonly string[]): boolean {
  return withoutPrefix(left, prefixes) === withoutPrefix(right, prefixes);
}

function withoutPrefix(providerId: string, prefixes: readonly string[]): string {
  const prefix = prefixes.find((one) => providerId.startsWith(one)) ?? "";
  return providerId.slice(prefix.length);
}

/** As a set: clouds keep no order. */
function hasSameAddresses(listed: readonly NodeAddress[], { status }: Node): boolean {
  const wanted = new Set(status.addresses.map(addressText));
  const present = new Set(listed.map(addressText));
  return wanted.size === present.size && [...wanted].every((text) => present.has(text));
}

function addressText({ type, address }: NodeAddress): string {
  return `${type} ${address}`;
}
