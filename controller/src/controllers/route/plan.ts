import { NETWORK_UNAVAILABLE, type Node, type NodeAddress } from "../../api/node.ts";
import type { JsonObject } from "../../kube/client.ts";
import type { RouteCapabilities } from "../../provider/model/info.ts";
import type { Route } from "../../provider/model/route.ts";
import { type Cidr, canonicalIp, contains, parseCidr } from "../../util/cidr.ts";
import { isOneProvider, isSameInstance } from "../../util/values/provider-id.ts";
import type { Refusal } from "./plan/claims.ts";
import { networkConditionOf } from "./predicates.ts";
import type { KnownRoute } from "./route-table.ts";

export type Input =
  /** `routes`: those to a Node of that name. */
  { readonly kind: "gone"; readonly routes: readonly ProvidedRoute[]; readonly rules: DeletionRules } | NodeInput;

export interface ProvidedRoute extends StaleRoute {
  /** The route comes from a complete list. */
  readonly complete: boolean;
}

export interface NodeInput {
  readonly kind: "node";
  readonly node: Node;
  readonly provider: string;
  readonly target: TargetRules;
  readonly rules: DeletionRules;
  /** The last list was complete. Without that no route is deleted. */
  readonly complete: boolean;
  readonly own: readonly KnownRoute[];
  /** All routes to a CIDR, of any Node. */
  readonly to: (cidr: Cidr) => readonly KnownRoute[];
  /** Another existing Node that needs this route. */
  readonly claimant: (known: KnownRoute) => string | undefined;
  /** Another existing Node, which may be of this provider, has exactly this pod CIDR, so that it decides about the routes to it. */
  readonly isOthers: (cidr: Cidr) => boolean;
  /** Why the Node gets no route to this CIDR. */
  readonly refuse: (cidr: Cidr) => Refusal | undefined;
}

export interface DeletionRules {
  /** Only routes inside one of these are deleted. */
  readonly clusterCidrs: readonly Cidr[];
}

export interface Plan {
  readonly node: Node | undefined;
  readonly stale: readonly StaleRoute[];
  readonly cidrs: readonly CidrPlan[];
  /** "" when there is no route to create. */
  readonly provider: string;
}

export interface StaleRoute {
  readonly provider: string;
  readonly known: KnownRoute;
}

export type CidrPlan =
  | { readonly kind: "kept"; readonly cidr: string }
  /** `first`: blocking routes, deleted before. */
  | { readonly kind: "create"; readonly cidr: string; readonly route: Route; readonly first: readonly KnownRoute[] }
  | {
      readonly kind: "rejected";
      readonly cidr: string;
      readonly nameHint: string;
      readonly rejection: CidrRejection;
      readonly message: string;
    };

/** Invalid CIDR, CIDR that the Node must not have, or IP family that the provider does not route. */
export type CidrRejection = "malformed" | Refusal["rejection"] | "family";

export function plan(input: Input): Plan {
  if (input.kind === "gone") {
    const unwanted = input.routes.filter(({ known, complete }) => complete && isDeletable(known, input.rules));
    const stale = unwanted.map(({ provider, known }) => ({ provider, known }));
    return { node: undefined, stale, cidrs: [], provider: "" };
  }
  const { node, provider } = input;
  // Routes need the provider ID, which cloud-node will set.
  if (node.spec.providerID === "") return { node, stale: [], cidrs: [], provider };
  const cidrs = node.spec.podCIDRs.map((text, index) => planCidr(input, text, nameHint(node, index)));
  const claimed = new Set(cidrs.map(({ cidr }) => cidr));
  const stale = input.own.filter(
    (known) => !claimed.has(known.cidr.text) && !input.isOthers(known.cidr) && mayDelete(known, input),
  );
  return { node, stale: stale.map((known) => ({ provider, known })), cidrs, provider };
}

export function changesRoutes({ stale, cidrs }: Plan): boolean {
  return stale.length > 0 || cidrs.some(({ kind }) => kind === "create");
}

export function isSettled(decided: Plan): boolean {
  const { node, cidrs } = decided;
  if (changesRoutes(decided)) return false;
  const states = cidrs.map(({ kind }) => (kind === "kept" ? "routed" : "unrouted"));
  return node === undefined || networkPatch(node, networkAfter(decided, states), 0) === undefined;
}

export type CidrState = "routed" | "unrouted" | "pending";

/** As upstream, one CIDR without a route makes the Node unrouted, and so does the loss of all CIDRs. Pending routes change nothing. */
export function networkAfter({ stale }: Pick<Plan, "stale">, states: readonly CidrState[]): Network {
  if (states.length === 0) return stale.length > 0 ? "unrouted" : undefined;
  if (states.includes("unrouted")) return "unrouted";
  return states.includes("pending") ? undefined : "routed";
}

/** A route that only overlaps a cluster CIDR may be a user's supernet. */
export function isDeletable({ cidr }: KnownRoute, { clusterCidrs }: DeletionRules): boolean {
  return clusterCidrs.some((clusterCidr) => contains(clusterCidr, cidr));
}

function planCidr(input: NodeInput, text: string, hint: string): CidrPlan {
  const { node, target } = input;
  const cidr = parseCidr(text);
  const rejected = (rejection: CidrRejection, message: string): CidrPlan => {
    return { kind: "rejected", cidr: cidr?.text ?? text, nameHint: hint, rejection, message };
  };
  if (cidr === undefined) return rejected("malformed", "it is not a valid CIDR");
  const present = input.to(cidr);
  const good = present.find((known) => isUpToDate(known, node, target));
  const others = present.filter((known) => known !== good);
  const first = others.filter((known) => isBlocking(known, input) && mayDelete(known, input));
  if (good !== undefined && first.length === 0) return { kind: "kept", cidr: cidr.text };
  const refusal = input.refuse(cidr);
  if (refusal !== undefined) return rejected(refusal.rejection, refusal.message);
  const { ipFamilies } = target.capability;
  if (ipFamilies.length > 0 && !ipFamilies.includes(cidr.family)) {
    return rejected("family", `the provider does not support ${cidr.family} routes`);
  }
  return { kind: "create", cidr: cidr.text, first, route: desiredRoute(node, cidr, hint, target) };
}

/**
 * A blackhole, or a route of another Node. A route to an instance that no Node has is not blocking: it may be the Node's own, with an ID
 * that only the provider can compare. The provider corrects it when the route is requested ([RTE-6] in proto/README.md).
 */
function isBlocking(known: KnownRoute, input: NodeInput): boolean {
  if (input.claimant(known) !== undefined) return false;
  const { nodeName } = known;
  const { blackhole, targetProviderId } = known.route;
  return blackhole || targetProviderId === "" || (nodeName !== "" && nodeName !== input.node.metadata.name);
}

function mayDelete(known: KnownRoute, { complete, rules }: NodeInput): boolean {
  return complete && isDeletable(known, rules);
}

function desiredRoute(node: Node, cidr: Cidr, hint: string, { capability, addresses }: TargetRules): Route {
  return {
    id: "",
    nameHint: hint,
    targetProviderId: node.spec.providerID,
    targetNodeName: node.metadata.name,
    destinationCidr: cidr.text,
    targetAddresses: capability.targetAddresses ? addresses : [],
    blackhole: false,
  };
}

/** Upstream uses the UID for every CIDR; the contract needs a unique name for each. */
function nameHint({ metadata }: Node, index: number): string {
  return index === 0 ? metadata.uid : `${metadata.uid}-${index}`;
}

export interface TargetRules {
  readonly capability: RouteCapabilities;
  /** Equivalent prefixes of this provider's IDs. */
  readonly prefixes: readonly string[];
  /** Those of the Node that a request can have: only these come back in a list. */
  readonly addresses: readonly NodeAddress[];
}

/** The route leads to the Node's instance, and over its addresses if the provider uses them. */
function isUpToDate({ route, madeFor }: KnownRoute, node: Node, rules: TargetRules): boolean {
  if (route.blackhole) return false;
  const { providerID } = node.spec;
  const targets = [madeFor, route.targetProviderId];
  const isTarget = targets.some(
    (id) => isSameInstance(id, providerID) && isOneProvider(id, providerID, rules.prefixes),
  );
  return isTarget && (!rules.capability.targetAddresses || hasSameAddresses(route.targetAddresses, rules.addresses));
}

/** As a set, because clouds do not keep the order. */
function hasSameAddresses(listed: readonly NodeAddress[], wanted: readonly NodeAddress[]): boolean {
  const textsOf = (addresses: readonly NodeAddress[]) =>
    new Set(addresses.map(({ type, address }) => `${type} ${canonicalIp(address)}`));
  const [desired, present] = [textsOf(wanted), textsOf(listed)];
  return desired.size === present.size && [...desired].every((text) => present.has(text));
}

export interface OrphansInput {
  readonly routes: readonly KnownRoute[];
  /** Both the list and the cache of Nodes are complete. */
  readonly complete: boolean;
  readonly rules: DeletionRules;
  readonly isLive: (known: KnownRoute) => boolean;
}

/** Routes of deleted Nodes. None of an incomplete list, because its other routes may be wrong too. */
export function orphans({ routes, complete, rules, isLive }: OrphansInput): readonly KnownRoute[] {
  if (!complete) return [];
  return routes.filter((known) => isDeletable(known, rules) && !isLive(known));
}

/** The new network condition of a Node. undefined: unchanged. */
export type Network = "routed" | "unrouted" | undefined;

/** Status, reason, message: cloud-provider/controllers/route/route_controller.go v0.36.3. */
const CONDITIONS = {
  routed: { status: "False", reason: "RouteCreated", message: "RouteController created a route" },
  unrouted: { status: "True", reason: "NoRouteCreated", message: "RouteController failed to create a route" },
} as const;

/** Strategic merge patch of nodes/status; undefined: up to date. As upstream, the message is not compared. */
export function networkPatch(node: Node, network: Network, nowMs: number): JsonObject | undefined {
  if (network === undefined) return undefined;
  const { status, reason, message } = CONDITIONS[network];
  const current = networkConditionOf(node);
  if (current?.status === status && current.reason === reason) return undefined;
  const now = new Date(nowMs).toISOString().replace(/\.\d{3}/, "");
  const condition = { type: NETWORK_UNAVAILABLE, status, reason, message };
  return {
    metadata: { uid: node.metadata.uid },
    status: { conditions: [{ ...condition, lastHeartbeatTime: now, lastTransitionTime: now }] },
  };
}
