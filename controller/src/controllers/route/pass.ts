import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { KubeClient } from "../../kube/client.ts";
import { listPages } from "../../kube/list-pages.ts";
import { NODES } from "../../kube/resources/node.ts";
import type { Route } from "../../provider/model/route.ts";
import { DONE, type ReconcileContext, type Result, requeueAfter } from "../../runtime/reconciler.ts";
import type { ReadableProvider } from "../../provider/model/provider.ts";
import type { Clock } from "../../util/clock.ts";
import { parseCidr } from "../../util/cidr.ts";
import type { ProviderInfo } from "../../provider/model/info.ts";
import { RouteSyncError } from "./failure.ts";
import { type GatherDependencies, gather, mayBeOfLiveNode } from "./gather.ts";
import type { Sync, SyncCounter } from "./metrics.ts";
import { NodeIndex } from "./node-index.ts";
import { isSettled, orphans, plan } from "./plan.ts";
import type { QuotaWatch } from "./quota-watch.ts";
import type { KnownRoute, Routing } from "./route-table.ts";
import type { RouteWriter } from "./route-writer.ts";

export interface PassDependencies extends GatherDependencies {
  readonly kube: Pick<KubeClient, "list">;
  readonly writer: RouteWriter;
  readonly quotas: QuotaWatch;
  readonly syncs: SyncCounter;
  readonly clock: Clock;
  /** Between two passes of a provider, unless the provider asks for longer. */
  readonly periodMs: number;
  /** The cache of Nodes is up to date: only then is a Node that it lacks deleted. */
  readonly knowsNodes: () => boolean;
  readonly wake: (nodeName: string) => void;
}

/** Between two passes over the same list. */
const MIN_PAUSE_MS = 1000;

/**
 * Lists the routes of one provider, removes those of deleted Nodes, and enqueues the Nodes that need a change. A recent list is reused, so
 * that a provider that was briefly away costs no list.
 */
export async function pass(providerName: string, deps: PassDependencies, context: ReconcileContext): Promise<Result> {
  const routing = deps.tables.named(providerName);
  if (routing === undefined) return DONE;
  return deps.syncs.pass(context, () => compare(routing, deps, context));
}

async function compare(routing: Routing, deps: PassDependencies, context: ReconcileContext): Promise<Sync> {
  const { minResyncIntervalMs } = routing.info.limits;
  if (ageMs(routing, deps) >= minResyncIntervalMs) await list(routing, deps, context);
  const { table } = routing;
  const isLive = (known: KnownRoute): boolean => mayBeOfLiveNode(deps, routing, known);
  const complete = table.complete && deps.knowsNodes();
  const orphaned = orphans({ routes: table.all(), complete, rules: deps.rules, isLive });
  const unwanted = await withoutNodes(orphaned, routing, deps, context.signal);
  const target = { ...routing, signal: context.signal };
  const removals = unwanted.map((known) => deps.writer.delete(target, known, () => isLive(known)));
  // Before the removals are done: in a batch they go first anyway, and a call that hangs must not delay the Nodes.
  for (const node of deps.nodes.list()) if (needsReconcile(deps, node)) deps.wake(keyOf(node));
  const failed = (await Promise.all(removals)).find((outcome) => outcome.kind === "failed");
  context.signal.throwIfAborted();
  if (failed !== undefined) {
    throw new RouteSyncError(`remove routes without node: ${failed.error.message}`, { cause: failed.error });
  }
  const periodMs = complete ? Math.max(deps.periodMs, minResyncIntervalMs) : minResyncIntervalMs;
  const result = requeueAfter(Math.max(MIN_PAUSE_MS, periodMs - ageMs(routing, deps)));
  return { result, isChange: unwanted.length > 0 };
}

function ageMs({ table }: Routing, { clock }: PassDependencies): number {
  const { readAtMs } = table;
  return readAtMs === undefined ? Number.POSITIVE_INFINITY : clock.monotonicMs() - readAtMs;
}

async function list(
  { provider, info, table }: Pick<Routing, "table" | "info"> & { readonly provider: ReadableProvider },
  deps: PassDependencies,
  { signal, log }: ReconcileContext,
): Promise<void> {
  const mark = table.mark();
  const readAtMs = deps.clock.monotonicMs();
  const { routes, complete, quota } = await provider.client.listRoutes({ signal, priority: "low" });
  deps.quotas.observe(provider.name, quota);
  const nameOf = nodeNames(deps, info);
  table.load({ routes: routes.flatMap((route) => known(route, nameOf)), complete, mark, readAtMs });
  log.debug(2, "Listed routes", { provider: provider.name, routes: routes.length, complete });
  if (!complete) log.warn("List of routes is incomplete; no route is deleted", { provider: provider.name });
}

/** This controller does not create routes with an invalid destination. */
function known(route: Route, nameOf: (route: Route) => string): readonly KnownRoute[] {
  const cidr = parseCidr(route.destinationCidr);
  return cidr === undefined ? [] : [{ route, cidr, nodeName: nameOf(route), madeFor: "" }];
}

/** The Node name in the route; without one, or if that Node does not exist, the Node on the target. */
function nodeNames({ nodes, index }: PassDependencies, { providerIdPrefixes }: ProviderInfo): (route: Route) => string {
  return ({ targetNodeName, targetProviderId }) => {
    if (targetNodeName !== "" && nodes.get(targetNodeName) !== undefined) return targetNodeName;
    return index.onInstance(targetProviderId, providerIdPrefixes)[0] ?? targetNodeName;
  };
}

function needsReconcile(deps: PassDependencies, node: Node): boolean {
  const input = gather(deps, keyOf(node));
  return input !== undefined && !isSettled(plan(input));
}

/** For more Nodes than this, listing all takes fewer requests. */
const MAX_LOOKUPS = 20;

/**
 * The routes whose Node does not exist in the API server either. A cache may be outdated without knowing it, such as that of a new leader
 * just after the old one has created routes.
 */
async function withoutNodes(
  routes: readonly KnownRoute[],
  { info }: Pick<Routing, "info">,
  { kube, nodes }: Pick<PassDependencies, "kube" | "nodes">,
  signal: AbortSignal,
): Promise<readonly KnownRoute[]> {
  const isLacking = ({ nodeName }: KnownRoute): boolean => nodes.get(nodeName) === undefined;
  const queried = namesToQuery(routes.filter(isLacking));
  const names = new Set<string>();
  const index = new NodeIndex();
  for await (const node of onServer(queried, kube, signal)) {
    names.add(node.metadata.name);
    index.note(node);
  }
  const isOnServer = ({ nodeName, route, cidr }: KnownRoute): boolean =>
    names.has(nodeName) ||
    index.onInstance(route.targetProviderId, info.providerIdPrefixes).length > 0 ||
    [...index.claimsTo(cidr)].length > 0;
  return routes.filter((known) => !isLacking(known) || !isOnServer(known));
}

/** All, if there are many names, or if only the target identifies a route's Node, as in clouds that store no names. */
function namesToQuery(lacking: readonly KnownRoute[]): readonly string[] | "all" {
  const names = new Set(lacking.map(({ nodeName }) => nodeName).filter(isNodeName));
  const isNameless = lacking.some(({ nodeName, route }) => !isNodeName(nodeName) && route.targetProviderId !== "");
  return isNameless || names.size > MAX_LOOKUPS ? "all" : [...names];
}

async function* onServer(
  queried: readonly string[] | "all",
  kube: PassDependencies["kube"],
  signal: AbortSignal,
): AsyncGenerator<Node> {
  if (queried === "all") {
    yield* listPages(kube, NODES, signal);
    return;
  }
  const found = await Promise.all(
    queried.map((name) => kube.list(NODES, { signal, limit: 1, fieldSelector: `metadata.name=${name}` })),
  );
  yield* found.flatMap(({ items }) => items);
}

/** A provider may report any text. */
function isNodeName(name: string): boolean {
  return /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(name);
}
