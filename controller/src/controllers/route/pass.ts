import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { KubeClient, ListOptions } from "../../kube/client.ts";
import { NODES } from "../../kube/resources/node.ts";
import type { Route } from "../../provider/model/route.ts";
import { DONE, type ReconcileContext, type Result, requeueAfter } from "../../runtime/reconciler.ts";
import type { Clock } from "../../util/clock.ts";
import { parseCidr } from "../../util/cidr.ts";
import { RouteSyncError } from "./failure.ts";
import { type GatherDependencies, gather, mayBeOf } from "./gather.ts";
import type { RouteMetrics } from "./metrics.ts";
import { isSettled, orphans, plan } from "./plan.ts";
import type { QuotaWatch } from "./quota-watch.ts";
import type { KnownRoute, Routing } from "./route-table.ts";
import type { RouteWriter } from "./route-writer.ts";

export interface PassDependencies extends GatherDependencies {
  readonly kube: Pick<KubeClient, "list">;
  readonly writer: RouteWriter;
  readonly quotas: QuotaWatch;
  readonly metrics: RouteMetrics;
  readonly clock: Clock;
  /** From one pass of a provider to the next; longer if the provider says so. */
  readonly periodMs: number;
  /** The cache of Nodes follows the server right now: only then is a Node that it lacks one that is no more. */
  readonly knowsNodes: () => boolean;
  /** Lets a Node be reconciled. */
  readonly wake: (nodeName: string) => void;
}

/** Between two looks at one and the same list. */
const MIN_PAUSE_MS = 1000;

/**
 * Lists the routes of one provider, removes those of Nodes that are no more, and wakes the Nodes that need something. A list that is
 * still young is used again: a provider that comes back after a moment does not cost one.
 */
export async function pass(providerName: string, deps: PassDependencies, context: ReconcileContext): Promise<Result> {
  const routing = deps.tables.named(providerName);
  if (routing === undefined) return DONE;
  const { minResyncIntervalMs } = routing.info.limits;
  if (ageMs(routing, deps) >= minResyncIntervalMs) await list(routing, deps, context);
  const { table } = routing;
  const isLive = (known: KnownRoute): boolean =>
    known.nodeName === ""
      ? leadsToANode(deps, known)
      : mayBeOf(deps, routing.provider, known.nodeName) || leadsToItsNode(deps, known);
  const complete = table.complete && deps.knowsNodes();
  const left = orphans({ routes: table.all(), complete, rules: deps.rules, isLive });
  const unwanted = await withoutNodes(left, deps, context.signal);
  const target = { ...routing, signal: context.signal };
  const removals = unwanted.map((known) => deps.writer.delete(target, known, () => isLive(known)));
  // Woken before the removals are through: those of the same moment go first all the same, and one that hangs holds up nobody.
  wakeUnsettled(deps);
  const failed = (await Promise.all(removals)).find((outcome) => outcome.kind === "failed");
  context.signal.throwIfAborted();
  if (failed !== undefined) {
    throw new RouteSyncError(`remove routes without node: ${failed.error.message}`, { cause: failed.error });
  }
  const periodMs = complete ? Math.max(deps.periodMs, minResyncIntervalMs) : minResyncIntervalMs;
  return requeueAfter(Math.max(MIN_PAUSE_MS, periodMs - ageMs(routing, deps)));
}

function ageMs({ table }: Routing, { clock }: PassDependencies): number {
  const { readAtMs } = table;
  return readAtMs === undefined ? Number.POSITIVE_INFINITY : clock.monotonicMs() - readAtMs;
}

async function list(routing: Routing, deps: PassDependencies, { signal, log }: ReconcileContext): Promise<void> {
  const { provider, table } = routing;
  deps.metrics.routeSyncs.inc();
  const mark = table.mark();
  const readAtMs = deps.clock.monotonicMs();
  const { routes, complete, quota } = await provider.client.listRoutes({ signal, priority: "low" });
  deps.quotas.observe(provider.name, quota);
  const nameOf = nodeNames(deps);
  table.load({ routes: routes.flatMap((route) => known(route, nameOf)), complete, mark, readAtMs });
  log.debug(2, "Listed routes", { provider: provider.name, routes: routes.length, complete });
  if (!complete) log.warn("List of routes is incomplete; no route is deleted", { provider: provider.name });
}

/** Providers of one cloud may see one table: a route that leads where its Node's ID says is that Node's, whoever owns it. */
function leadsToItsNode({ nodes }: PassDependencies, { nodeName, route }: KnownRoute): boolean {
  const providerID = nodes.get(nodeName)?.spec.providerID ?? "";
  return providerID !== "" && providerID === route.targetProviderId;
}

/** The same of a route without name, whose Node the cache has perhaps heard of since the list was read. */
function leadsToANode({ nodes }: PassDependencies, { route }: KnownRoute): boolean {
  if (route.targetProviderId === "") return false;
  for (const { spec } of nodes.list()) if (spec.providerID === route.targetProviderId) return true;
  return false;
}

/** A destination that is no range is nothing that this controller made. */
function known(route: Route, nameOf: (route: Route) => string): readonly KnownRoute[] {
  const cidr = parseCidr(route.destinationCidr);
  return cidr === undefined ? [] : [{ route, cidr, nodeName: nameOf(route), madeFor: "" }];
}

/** The name stamped on the route; where there is none, or no such Node any more, that of the Node with the target's provider ID. */
function nodeNames({ nodes }: PassDependencies): (route: Route) => string {
  const byProviderId = new Map<string, string>();
  for (const { metadata, spec } of nodes.list()) {
    if (spec.providerID !== "") byProviderId.set(spec.providerID, metadata.name);
  }
  return ({ targetNodeName, targetProviderId }) => {
    if (targetNodeName !== "" && nodes.get(targetNodeName) !== undefined) return targetNodeName;
    return byProviderId.get(targetProviderId) ?? targetNodeName;
  };
}

function wakeUnsettled(deps: PassDependencies): void {
  for (const node of deps.nodes.list()) {
    if (needsReconcile(deps, node)) deps.wake(keyOf(node));
  }
}

function needsReconcile(deps: PassDependencies, node: Node): boolean {
  const input = gather(deps, keyOf(node));
  return input !== undefined && !isSettled(plan(input));
}

/** More Nodes than these are found with fewer questions by looking at all. */
const MAX_LOOKUPS = 20;

/** As pages go: all Nodes of a large cluster in some ten answers. */
const PAGE = 500;

/**
 * Those of `routes` that lead to no Node. A cache may be behind without knowing, as that of a standby that has just taken over where the
 * old leader made routes a moment ago: the server itself has the word about a Node that the cache lacks.
 */
async function withoutNodes(
  routes: readonly KnownRoute[],
  { kube, nodes }: Pick<PassDependencies, "kube" | "nodes">,
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
  kube: PassDependencies["kube"],
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
