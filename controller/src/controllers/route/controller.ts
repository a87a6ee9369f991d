import { EVENT_SOURCES, NODE_ROUTE_CONTROLLER } from "../../api/controller-names.ts";
import type { Node } from "../../api/node.ts";
import { allocatedCidrs } from "../../kube/node-cidrs.ts";
import { OwnWrites } from "../../kube/cache/store.ts";
import { subqueueOfOwner, subqueueCount } from "../../provider/ownership/provider-set.ts";
import { Controller } from "../../runtime/controller.ts";
import { FailureCounts } from "../../runtime/history.ts";
import { type Reconciler, stepReconciler } from "../../runtime/reconciler.ts";
import type { ControllerContext, Registration } from "../../runtime/registration.ts";
import { once } from "../../util/once.ts";
import type { ExponentialOptions } from "../../workqueue/rate-limited-queue.ts";
import { apply } from "./apply.ts";
import { gather } from "./gather.ts";
import { type RouteMetrics, SyncCounter, routeMetrics } from "./metrics.ts";
import { NodeIndex } from "./node-index.ts";
import { type RouteOptions, clusterCidrsOf, whyNoRoutes } from "./options.ts";
import { pass } from "./pass.ts";
import { providerOfPassKey } from "./predicates.ts";
import { changesRoutes, plan } from "./plan.ts";
import { QuotaWatch, WaitingNodes } from "./quota-watch.ts";
import { RouteWriter } from "./route-writer.ts";
import { claimSource, conditionSource, nodeSource, providersSource } from "./sources.ts";
import { RouteTables } from "./route-table.ts";

type Context = ControllerContext<RouteOptions>;

/** Concurrent reconciles of one provider. They share calls. */
const WORKERS = 1000;

/** How long a call waits for more changes. */
const WINDOW_MS = 100;

/** proto/README.md section 5, class U. */
const BACKOFF: ExponentialOptions = { initialMs: 1000, maxMs: 300_000 };

export const nodeRoute: Registration<RouteOptions> = {
  name: NODE_ROUTE_CONTROLLER,
  queue: "Routes",
  shortName: "route",
  register: (context) => {
    const { options, program } = context;
    const detail = whyNoRoutes(options);
    if (detail !== undefined) {
      program.log.info("Routes are not managed", { controller: NODE_ROUTE_CONTROLLER, detail });
      return undefined;
    }
    const metrics = once(() => routeMetrics(program.metrics));
    return { build: () => nodeRouteController(context, metrics()) };
  },
};

/**
 * Keeps a route in the cloud for each pod CIDR of each Node, and the Node's network condition. It works on one list and on its own changes
 * since, so that a restart changes nothing and an idle cluster costs one list per period.
 */
function nodeRouteController(context: Context, metrics: RouteMetrics): Controller {
  const { cluster, providers } = context;
  const tables = new RouteTables(providers.providers);
  const index = new NodeIndex();
  const wake = (name: string): void => controller.queue.add(name, { priority: "low" });
  const controller: Controller = new Controller(context, {
    reconciler: routeReconciler(context, metrics, { tables, index }, wake),
    sources: [claimSource(context, index), nodeSource(context), conditionSource(context), providersSource(context)],
    subqueues: { of: (key) => subqueueOf(key, context, tables), count: subqueueCount(providers.providers) },
    workers: WORKERS,
    backoff: BACKOFF,
    objects: cluster.nodes.lister,
  });
  return controller;
}

/** A deleted Node belongs to the provider that has routes to it. */
function subqueueOf(key: string, { cluster, providers }: Context, tables: RouteTables): string {
  const node = cluster.nodes.lister.get(key);
  if (node !== undefined) return subqueueOfOwner(providers.providers.ownerOfNode(node));
  const routing = tables.all().find(({ table }) => table.ofNode(key).length > 0);
  return providerOfPassKey(key) ?? routing?.provider.name ?? subqueueOfOwner(undefined);
}

function routeReconciler(
  { options, cluster, providers: { instances, providers }, program: { clock, log } }: Context,
  metrics: RouteMetrics,
  { tables, index }: { readonly tables: RouteTables; readonly index: NodeIndex },
  wake: (name: string) => void,
): Reconciler {
  const { client: kube, nodes } = cluster;
  const events = cluster.events.recorder(EVENT_SOURCES.route);
  const ownWrites = new OwnWrites<Node>();
  const quotas = new QuotaWatch({ metrics, events, log });
  const waiting = new WaitingNodes(wake);
  const writer = new RouteWriter({
    clock,
    windowMs: WINDOW_MS,
    onQuota: (provider, quota) => quotas.observe(provider, quota),
    onRemoved: () => waiting.wakeAll(),
  });
  const syncs = new SyncCounter(metrics);
  const rules = { clusterCidrs: clusterCidrsOf(options), blocks: allocatedCidrs(options) };
  const gathering = { nodes: nodes.lister, providers, tables, index, ownWrites, rules };
  const failureCounts = new FailureCounts();
  const applying = { kube, instances, tables, writer, waiting, failureCounts, events, ownWrites, clock };
  const passing = {
    ...gathering,
    kube,
    writer,
    quotas,
    syncs,
    clock,
    get periodMs() {
      return options.routeReconciliationPeriod;
    },
    knowsNodes: () => nodes.lastFailure() === undefined,
    wake: (name: string) => {
      syncs.enqueuedByPass(name);
      wake(name);
    },
  };
  const steps = stepReconciler(
    {
      gather: async ({ key }) => gather(gathering, key),
      plan,
      apply: (decided, context) =>
        syncs.node(context, async () => {
          const result = await apply(decided, applying, context);
          return { result, isChange: changesRoutes(decided) };
        }),
    },
    clock,
  );
  return {
    reconcile: async (context) => {
      const provider = providerOfPassKey(context.key);
      if (provider !== undefined) return pass(provider, passing, context);
      const result = await steps.reconcile(context);
      syncs.succeeded(context.key);
      return result;
    },
  };
}
