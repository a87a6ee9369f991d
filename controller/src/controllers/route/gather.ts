import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import type { OwnWrites } from "../../kube/cache/store.ts";
import type { Provider, ProviderSet } from "../../provider/model/provider.ts";
import { type Cidr, parseCidr } from "../../util/cidr.ts";
import { type DeletionRules, type Input, type NodeInput, targetRulesOf } from "./plan.ts";
import type { KnownRoute, RouteTables } from "./route-table.ts";

/** What this step reads from. All of it is in memory. */
export interface GatherDependencies {
  readonly nodes: Lister<Node>;
  readonly providers: Pick<ProviderSet, "ownerOfNode">;
  readonly tables: RouteTables;
  readonly ownWrites: OwnWrites<Node>;
  readonly rules: DeletionRules;
}

/**
 * The Node and the routes known for it. undefined: it is nobody's, its provider makes no routes, or its routes have not been listed
 * yet; then the list will wake it.
 */
export function gather(deps: GatherDependencies, name: string): Input | undefined {
  const { nodes, ownWrites, rules } = deps;
  const cached = nodes.get(name);
  if (cached === undefined) {
    ownWrites.forget(name);
    return { kind: "gone", routes: routesOfGone(deps, name), rules };
  }
  return gatherNode(deps, ownWrites.latest(cached));
}

function routesOfGone({ tables }: GatherDependencies, name: string) {
  return tables.all().flatMap(({ provider, table }) => {
    const { complete } = table;
    return table.ofNode(name).map((known) => ({ provider: provider.name, known, complete }));
  });
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
    target: targetRulesOf(info, capability),
    rules: deps.rules,
    complete: table.complete,
    own: table.ofNode(node.metadata.name),
    to: (cidr) => table.to(cidr),
    claimant: (known) => claimantOf(deps, provider, node, known),
  };
}

/** The Node exists, and is not for sure another provider's: a route of this one can be its. */
export function mayBeOf(
  { nodes, providers }: Pick<GatherDependencies, "nodes" | "providers">,
  { name }: Pick<Provider, "name">,
  nodeName: string,
): boolean {
  const node = nodes.get(nodeName);
  const owner = node && providers.ownerOfNode(node);
  return owner !== undefined && (owner.kind !== "owned" || owner.provider.name === name);
}

/** Two Nodes with one range must not take the route from each other for ever: who has it keeps it. */
function claimantOf(
  deps: GatherDependencies,
  provider: Provider,
  node: Node,
  { nodeName, cidr }: KnownRoute,
): string | undefined {
  const other = nodeName === node.metadata.name ? undefined : deps.nodes.get(nodeName);
  return other !== undefined && wants(other, cidr) && mayBeOf(deps, provider, nodeName) ? nodeName : undefined;
}

function wants({ spec }: Node, cidr: Cidr): boolean {
  return spec.podCIDRs.some((text) => parseCidr(text)?.text === cidr.text);
}
