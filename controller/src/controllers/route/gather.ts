import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import type { OwnWrites } from "../../kube/cache/own-writes.ts";
import type { KubeClient, ListOptions } from "../../kube/client.ts";
import { NODES } from "../../kube/resources/node.ts";
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

export interface ServerNodesDependencies {
  readonly kube: Pick<KubeClient, "list">;
  readonly nodes: Lister<Node>;
}

/** More Nodes than these are found with fewer questions by looking at all. */
const MAX_LOOKUPS = 20;

/** As pages go: all Nodes of a large cluster in some ten answers. */
const PAGE = 500;

/**
 * Those of `routes` that lead to no Node. A cache may be behind without knowing, as that of a standby that has just taken over where the
 * old leader made routes a moment ago: the server itself has the word about a Node that the cache lacks.
 */
export async function withoutNodes(
  routes: readonly KnownRoute[],
  { kube, nodes }: ServerNodesDependencies,
  signal: AbortSignal,
): Promise<readonly KnownRoute[]> {
  const isLacking = ({ nodeName }: KnownRoute): boolean => nodes.get(nodeName) === undefined;
  const asked = askedFor(routes.filter(isLacking));
  const names = new Set<string>();
  const ids = new Set<string>();
  for await (const { metadata, spec } of onServer(asked, kube, signal)) {
    names.add(metadata.name);
    if (spec.providerID !== "") ids.add(spec.providerID);
  }
  return routes.filter(
    (known) => !isLacking(known) || !(names.has(known.nodeName) || ids.has(known.route.targetProviderId)),
  );
}

/** Names of Nodes; or all, where there are many, or where the target alone tells whose a route is, as at clouds that keep no names. */
function askedFor(lacking: readonly KnownRoute[]): readonly string[] | "all" {
  const names = new Set(lacking.map(({ nodeName }) => nodeName).filter(isNodeName));
  const isNameless = lacking.some(({ nodeName, route }) => !isNodeName(nodeName) && route.targetProviderId !== "");
  return isNameless || names.size > MAX_LOOKUPS ? "all" : [...names];
}

async function* onServer(
  asked: readonly string[] | "all",
  kube: ServerNodesDependencies["kube"],
  signal: AbortSignal,
): AsyncGenerator<Node> {
  if (asked !== "all") {
    const found = await Promise.all(asked.map((name) => kube.list(NODES, only(name, signal))));
    yield* found.flatMap(({ items }) => items);
    return;
  }
  let next = "";
  do {
    const page = await kube.list(NODES, { signal, limit: PAGE, ...(next === "" ? {} : { continue: next }) });
    yield* page.items;
    next = page.continue;
  } while (next !== "");
}

function only(name: string, signal: AbortSignal): ListOptions {
  return { signal, limit: 1, fieldSelector: `metadata.name=${name}` };
}

/** What providers say is no name by itself. */
function isNodeName(name: string): boolean {
  return /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(name);
}
