import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import type { OwnWrites } from "../../kube/cache/store.ts";
import type { Provider, ProviderSet } from "../../provider/model/provider.ts";
import { parseCidr } from "../../util/cidr.ts";
import type { DeletionRules, Input, NodeInput } from "./plan.ts";
import type { KnownRoute, RouteTables } from "./route-table.ts";

export interface GatherDependencies {
  readonly nodes: Lister<Node>;
  readonly providers: Pick<ProviderSet, "ownerOfNode">;
  readonly tables: RouteTables;
  readonly ownWrites: OwnWrites<Node>;
  readonly rules: DeletionRules;
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
  const routes = tables.all().flatMap(({ provider, table }) => {
    const { complete } = table;
    return table.ofNode(name).map((known) => ({ provider: provider.name, known, complete }));
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
    target: { capability, prefixes: info.providerIdPrefixes },
    rules: deps.rules,
    complete: table.complete,
    own: table.ofNode(node.metadata.name),
    to: (cidr) => table.to(cidr),
    claimant: (known) => claimantOf(deps, provider, node, known),
  };
}

/** The Node exists, and may belong to this provider. */
export function mayBeOf(
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
