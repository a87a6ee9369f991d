import { NETWORK_UNAVAILABLE, type Node, type NodeAddress } from "../../api/node.ts";
import type { JsonObject } from "../../kube/client.ts";
import type { ProviderInfo, RouteCapabilities } from "../../provider/model/info.ts";
import type { Route } from "../../provider/model/route.ts";
import { type Cidr, contains, parseCidr } from "../../util/cidr.ts";
import { networkConditionOf } from "./predicates.ts";
import type { KnownRoute } from "./route-table.ts";

/** What a decision about one Node's routes rests on. */
export type Input =
  | {
      readonly kind: "gone";
      /** Routes that are for a Node of that name. */
      readonly routes: readonly ProvidedRoute[];
      readonly rules: DeletionRules;
    }
  | NodeInput;

export interface ProvidedRoute {
  readonly provider: string;
  readonly known: KnownRoute;
  /** The list it is from was complete. */
  readonly complete: boolean;
}

export interface NodeInput {
  readonly kind: "node";
  readonly node: Node;
  readonly provider: string;
  readonly target: TargetRules;
  readonly rules: DeletionRules;
  /** The last list was: without it nothing is deleted. */
  readonly complete: boolean;
  /** Routes that are for this Node, whatever their range. */
  readonly own: readonly KnownRoute[];
  /** Routes to a range, whoever they are for. */
  readonly to: (cidr: Cidr) => readonly KnownRoute[];
  /** Another live Node that wants this very route. */
  readonly claimant: (known: KnownRoute) => string | undefined;
}

export interface DeletionRules {
  /** Routes that do not lie wholly inside one of these are never deleted. */
  readonly clusterCidrs: readonly Cidr[];
}

export interface Plan {
  /** undefined: the Node is gone. */
  readonly node: Node | undefined;
  /** Routes that nobody wants. */
  readonly stale: readonly StaleRoute[];
  readonly ranges: readonly RangePlan[];
  /** Who makes them; "" when there is nothing to make. */
  readonly provider: string;
}

export interface StaleRoute {
  readonly provider: string;
  readonly known: KnownRoute;
}

/** What one pod range of a Node needs. */
export type RangePlan =
  | { readonly kind: "kept"; readonly cidr: string }
  /** `first`: what is in the way and has to go before. */
  | { readonly kind: "make"; readonly cidr: string; readonly route: Route; readonly first: readonly KnownRoute[] }
  /** Not to be asked for before something changes. */
  | {
      readonly kind: "refused";
      readonly cidr: string;
      readonly nameHint: string;
      readonly refusal: RangeRefusal;
      readonly message: string;
    };

/** Why a route is not to be asked for: no range, another Node's range, a family that the provider does not route. */
export type RangeRefusal = "malformed" | "taken" | "family";

/** What the routes of one Node need. Knows nothing of other Nodes but what the input says. */
export function plan(input: Input): Plan {
  if (input.kind === "gone") {
    const unwanted = input.routes.filter(({ known, complete }) => complete && isDeletable(known, input.rules));
    const stale = unwanted.map(({ provider, known }) => ({ provider, known }));
    return { node: undefined, stale, ranges: [], provider: "" };
  }
  const { node, provider } = input;
  // Without the machine's ID no route can be asked for, and none be judged: cloud-node will set it.
  if (node.spec.providerID === "") return { node, stale: [], ranges: [], provider };
  const ranges = node.spec.podCIDRs.map((text, index) => planRange(input, text, nameHint(node, index)));
  const stale = input.own.filter(
    (known) => !ranges.some(({ cidr }) => cidr === known.cidr.text) && mayDelete(known, input),
  );
  return { node, stale: stale.map((known) => ({ provider, known })), ranges, provider };
}

/** There is nothing to do, nor to say. */
export function isSettled(decided: Plan): boolean {
  const { node, stale, ranges } = decided;
  if (stale.length > 0 || ranges.some(({ kind }) => kind === "make")) return false;
  return node === undefined || !needsSaying(node, networkAfter(decided, ranges.map(stateOf)));
}

/** How one range ended. */
export type RangeState = "routed" | "unrouted" | "pending";

/**
 * What the Node is to say of its network, as upstream: one range without route is enough to say so; a Node that lost its
 * ranges says it too. Work under way says nothing yet.
 */
export function networkAfter({ stale }: Pick<Plan, "stale">, states: readonly RangeState[]): Network {
  if (states.length === 0) return stale.length > 0 ? "unrouted" : undefined;
  if (states.includes("unrouted")) return "unrouted";
  return states.includes("pending") ? undefined : "routed";
}

function stateOf({ kind }: RangePlan): RangeState {
  return kind === "kept" ? "routed" : "unrouted";
}

/** Routes lie wholly inside a cluster range, or are left alone: one that merely overlaps may be a user's supernet. */
export function isDeletable({ cidr }: KnownRoute, { clusterCidrs }: DeletionRules): boolean {
  return clusterCidrs.some((clusterCidr) => contains(clusterCidr, cidr));
}

function planRange(input: NodeInput, text: string, hint: string): RangePlan {
  const { node, target } = input;
  const cidr = parseCidr(text);
  const refused = (refusal: RangeRefusal, message: string): RangePlan => {
    return { kind: "refused", cidr: cidr?.text ?? text, nameHint: hint, refusal, message };
  };
  if (cidr === undefined) return refused("malformed", "it is not a range of addresses");
  const present = input.to(cidr);
  const good = present.find((known) => isAsWished(known, node, target));
  const others = present.filter((known) => known !== good);
  const rival = others.map((known) => input.claimant(known)).find((name) => name !== undefined);
  const first = others.filter((known) => isInTheWay(known, input) && mayDelete(known, input));
  if (good !== undefined && first.length === 0) return { kind: "kept", cidr: cidr.text };
  if (rival !== undefined) return refused("taken", `node ${rival} has the same range and its route`);
  if (!routesFamily(cidr, target)) return refused("family", `the provider makes no ${cidr.family} routes`);
  return { kind: "make", cidr: cidr.text, first, route: desiredRoute(node, cidr, hint, target) };
}

/**
 * A blackhole, or a route to somebody else's machine. The Node's own route to a machine that is written otherwise is not: the
 * provider alone can tell whether it is the same one, and makes it so when asked for it.
 */
function isInTheWay(known: KnownRoute, input: NodeInput): boolean {
  if (input.claimant(known) !== undefined) return false;
  const { blackhole, targetProviderId } = known.route;
  return blackhole || targetProviderId === "" || known.nodeName !== input.node.metadata.name;
}

function mayDelete(known: KnownRoute, { complete, rules }: NodeInput): boolean {
  return complete && isDeletable(known, rules);
}

function routesFamily({ family }: Cidr, { capability }: TargetRules): boolean {
  return capability.ipFamilies.length === 0 || capability.ipFamilies.includes(family);
}

function desiredRoute(node: Node, cidr: Cidr, hint: string, { capability }: TargetRules): Route {
  return {
    id: "",
    nameHint: hint,
    targetProviderId: node.spec.providerID,
    targetNodeName: node.metadata.name,
    destinationCidr: cidr.text,
    targetAddresses: capability.targetAddresses ? node.status.addresses : [],
    blackhole: false,
  };
}

/** Upstream's is the UID for every range; the contract wants one a range. */
function nameHint({ metadata }: Node, index: number): string {
  return index === 0 ? metadata.uid : `${metadata.uid}-${index}`;
}

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
function isAsWished({ route, madeFor }: KnownRoute, node: Node, rules: TargetRules): boolean {
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

export interface OrphansInput {
  readonly routes: readonly KnownRoute[];
  /** The list they are from was, and so is what is known of Nodes. */
  readonly complete: boolean;
  readonly rules: DeletionRules;
  /** Its Node exists, and the route may be that Node's own: then it is its own reconcile's. */
  readonly isLive: (known: KnownRoute) => boolean;
}

/** Routes of Nodes that are no more. None of an incomplete picture: a cloud that shows half of its routes may show them wrongly too. */
export function orphans({ routes, complete, rules, isLive }: OrphansInput): readonly KnownRoute[] {
  if (!complete) return [];
  return routes.filter((known) => isDeletable(known, rules) && !isLive(known));
}

/** What a Node is to say of its routes: all there, or not. undefined: nothing. */
export type Network = "routed" | "unrouted" | undefined;

/** Status, reason, message: cloud-provider/controllers/route/route_controller.go v0.36.3. */
const SAYINGS = {
  routed: { status: "False", reason: "RouteCreated", message: "RouteController created a route" },
  unrouted: { status: "True", reason: "NoRouteCreated", message: "RouteController failed to create a route" },
} as const;

/** Strategic merge patch of nodes/status; undefined: the Node says so already. As upstream, the message is not compared. */
export function networkPatch(node: Node, network: Network, nowMs: number): JsonObject | undefined {
  if (network === undefined) return undefined;
  const { status, reason, message } = SAYINGS[network];
  const current = networkConditionOf(node);
  if (current?.status === status && current.reason === reason) return undefined;
  const now = new Date(nowMs).toISOString().replace(/\.\d{3}/, "");
  const condition = { type: NETWORK_UNAVAILABLE, status, reason, message };
  return {
    metadata: { uid: node.metadata.uid },
    status: { conditions: [{ ...condition, lastHeartbeatTime: now, lastTransitionTime: now }] },
  };
}

/** The Node does not say so yet. */
function needsSaying(node: Node, network: Network): boolean {
  return networkPatch(node, network, 0) !== undefined;
}
