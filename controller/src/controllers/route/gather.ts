import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import type { OwnWrites } from "../../kube/cache/store.ts";
import { fittingAddresses } from "../../provider/convert/node.ts";
import type { Provider, ProviderSet } from "../../provider/model/provider.ts";
import { type Cidr, parseCidr } from "../../util/cidr.ts";
import type { NodeIndex } from "./node-index.ts";
import { type Block, type Claim, refuse } from "./plan/claims.ts";
import type { DeletionRules, Input, NodeInput } from "./plan.ts";
import type { KnownRoute, RouteTables, Routing } from "./route-table.ts";

export interface GatherDependencies {
  readonly nodes: Lister<Node>;
  readonly providers: Pick<ProviderSet, "ownerOfNode">;
  readonly tables: RouteTables;
  readonly index: NodeIndex;
  readonly ownWrites: OwnWrites<Node>;
  readonly rules: DeletionRules & {
    /** Allocated by node-ipam-controller here. */
    readonly blocks: readonly Block[];
  };
}

/**
 * Reads the Node and its routes. undefined: it has no owner, its provider does not serve routes, or they are not listed yet. The list will
 * enqueue the Node again.
 */
export function gather(deps: GatherDependencies, name: string): Input | undefined {
  const { nodes, ownWrites, rules, tables } = deps;
  const cached = nodes.get(name);
  if (cached !== undefined) return gatherNode(deps, ownWrites.latest(cached));
  ownWrites.forget(name);
  const routes = tables.all().flatMap((routing) => {
    const { complete } = routing.table;
    const unclaimed = routing.table.ofNode(name).filter((known) => !mayBeOfLiveNode(deps, routing, known));
    return unclaimed.map((known) => ({ provider: routing.provider.name, known, complete }));
  });
  return { kind: "gone", routes, rules };
}

function gatherNode(deps: GatherDependencies, node: Node): NodeInput | undefined {
  const owner = deps.providers.ownerOfNode(node);
  if (owner.kind !== "owned") return undefined;
  const routing = deps.tables.of(owner.provider);
  if (routing === undefined || routing.table.readAtMs === undefined) return undefined;
  const { provider, info, capability, table } = routing;
  return {
    kind: "node",
    node,
    provider: provider.name,
    target: { capability, prefixes: info.providerIdPrefixes, addresses: fittingAddresses(node.status.addresses) },
    rules: deps.rules,
    complete: table.complete,
    own: table.ofNode(node.metadata.name),
    to: (cidr) => table.to(cidr),
    claimant: (known) => claimantOf(deps, provider, node, known),
    isOthers: (cidr) => claimsTo(deps, provider, cidr).some((claim) => claim.node !== node.metadata.name),
    refuse: (cidr) => refuseClaim(deps, node, cidr),
  };
}

function refuseClaim(deps: GatherDependencies, { metadata }: Node, cidr: Cidr): ReturnType<typeof refuse> {
  const { nodes, index, tables, rules } = deps;
  return refuse(
    { node: metadata.name, cidr, createdMs: metadata.creationTimestampMs },
    {
      ...rules,
      hasOthers: nodes.size > 1,
      overlapping: (other) => index.overlapping(other),
      hasRoute: (claim) => tables.all().some(({ table }) => hasRoute(claim, table.to(claim.cidr))),
    },
  );
}

function hasRoute({ node }: Claim, routes: readonly KnownRoute[]): boolean {
  return routes.some(({ nodeName, route }) => nodeName === node && !route.blackhole);
}

/** Claims of Nodes that may belong to the provider. */
function claimsTo(deps: GatherDependencies, provider: Pick<Provider, "name">, cidr: Cidr): readonly Claim[] {
  return [...deps.index.claimsTo(cidr)].filter(({ node }) => mayBeOf(deps, provider, node));
}

/**
 * An existing Node has the name, the instance or the pod CIDR of the route: the reconcile of that Node decides about the route. Providers
 * of one cloud may share a table, so that the instance may be of a Node of another provider.
 */
export function mayBeOfLiveNode(deps: GatherDependencies, { provider, info }: Routing, known: KnownRoute): boolean {
  const { nodeName, route, cidr } = known;
  if (mayBeOf(deps, provider, nodeName)) return true;
  if (deps.index.onInstance(route.targetProviderId, info.providerIdPrefixes).length > 0) return true;
  return claimsTo(deps, provider, cidr).length > 0;
}

/** The Node exists, and may belong to this provider. */
function mayBeOf(
  { nodes, providers }: Pick<GatherDependencies, "nodes" | "providers">,
  { name }: Pick<Provider, "name">,
  nodeName: string,
): boolean {
  const node = nodes.get(nodeName);
  const owner = node && providers.ownerOfNode(node);
  return owner !== undefined && (owner.kind !== "owned" || owner.provider.name === name);
}

/** Of two Nodes with one CIDR, the one that has the route keeps it. */
function claimantOf(
  deps: GatherDependencies,
  provider: Provider,
  node: Node,
  { nodeName, cidr }: KnownRoute,
): string | undefined {
  const other = nodeName === node.metadata.name ? undefined : deps.nodes.get(nodeName);
  const hasCidr = other?.spec.podCIDRs.some((text) => parseCidr(text)?.text === cidr.text) === true;
  return hasCidr && mayBeOf(deps, provider, nodeName) ? nodeName : undefined;
}
