import type { Node } from "../../api/node.ts";
import type { KubeClient, ListOptions } from "../../kube/client.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import { NODES } from "../../kube/resources/node.ts";
import type { KnownRoute } from "./route-table.ts";

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
