import { NODE_ROUTE_CONTROLLER } from "../../api/controller-names.ts";
import type { Node } from "../../api/node.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import { OwnWrites } from "../../kube/cache/own-writes.ts";
import type { InstanceReader } from "../../provider/lookup/instance-reader.ts";
import { laneOf, workersFor } from "../../provider/ownership/provider-set.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import { Controller } from "../../runtime/controller.ts";
import { FailureCounts } from "../../runtime/history.ts";
import type { ControllerMetrics } from "../../runtime/metrics.ts";
import { type Reconciler, stepReconciler } from "../../runtime/reconciler.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Tracing } from "../../telemetry/tracing.ts";
import type { Cidr } from "../../util/cidr.ts";
import type { Clock } from "../../util/clock.ts";
import type { QueueMetrics } from "../../workqueue/metrics.ts";
import type { Workqueue } from "../../workqueue/queue.ts";
import { type ExponentialOptions, exponentialLimiter } from "../../workqueue/rate-limiter.ts";
import { createWorkqueue } from "../../workqueue/rate-limited-queue.ts";
import { apply } from "./apply.ts";
import { gather } from "./gather.ts";
import type { RouteMetrics } from "./metrics.ts";
import { pass } from "./pass.ts";
import { providerOfPassKey } from "./predicates.ts";
import { plan } from "./plan.ts";
import { QuotaWatch, WaitingNodes } from "./quota-watch.ts";
import { RouteWriter } from "./route-writer.ts";
import { conditionSource, nodeSource, providersSource } from "./sources.ts";
import { RouteTables } from "./route-table.ts";

export interface NodeRouteSettings {
  /** Ranges of all pods (--cluster-cidr). */
  readonly clusterCidrs: readonly Cidr[];
  /** From one list of all routes to the next (--route-reconciliation-period); may change while the controller runs. */
  readonly periodMs: number;
  /** How long changes are gathered for one call. @default 100 */
  readonly windowMs?: number;
}

export interface NodeRouteDependencies {
  readonly nodes: Informer<Node>;
  readonly providers: ProviderSet;
  readonly instances: InstanceReader;
  readonly kube: Pick<KubeClient, "list" | "patch">;
  /** Of source EVENT_SOURCES.route. */
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: RouteMetrics;
  /** Of the queue that upstream calls `Routes`. */
  readonly queueMetrics: QueueMetrics;
  readonly controllerMetrics: ControllerMetrics;
  readonly tracing: Tracing;
  /** Calls back whenever a provider has become usable; answers how to end that. */
  readonly onProviderReady: (listener: () => void) => () => void;
  readonly settings: NodeRouteSettings;
}

/** Nodes of one provider in work at once: they wait for calls that they share, so many of them make few calls. */
const WORKERS = 1000;

const DEFAULT_WINDOW_MS = 100;

/** proto/README.md section 5, class U. */
const BACKOFF: ExponentialOptions = { initialMs: 1000, maxMs: 300_000 };

/**
 * Keeps a route at the cloud for each pod range of each Node, and the Node's word about it. Nodes wake it one by one; what they need
 * is known from one list and from what was changed since, so that a restart changes nothing and idleness costs a list a period.
 */
export function nodeRouteController(deps: NodeRouteDependencies): Controller {
  const { clock, log, providers, queueMetrics, controllerMetrics, tracing } = deps;
  const tables = new RouteTables(providers);
  const queue = createWorkqueue({
    clock,
    limiter: exponentialLimiter(BACKOFF),
    metrics: queueMetrics,
    lanes: { laneOf: (key) => laneOfKey(key, deps, tables), limit: WORKERS },
  });
  return new Controller({
    name: NODE_ROUTE_CONTROLLER,
    reconciler: routeReconciler(deps, tables, queue),
    sources: [nodeSource(deps), conditionSource(deps), providersSource(deps)],
    queue,
    workers: workersFor(providers, WORKERS),
    objects: deps.nodes.lister,
    clock,
    log,
    metrics: controllerMetrics,
    tracing,
  });
}

/** A Node that is gone waits for whoever has routes to it. */
function laneOfKey(key: string, { nodes, providers }: NodeRouteDependencies, tables: RouteTables): string {
  const node = nodes.lister.get(key);
  if (node !== undefined) return laneOf(providers.ownerOfNode(node));
  const holder = tables.all().find(({ table }) => table.ofNode(key).length > 0);
  return providerOfPassKey(key) ?? holder?.provider.name ?? laneOf(undefined);
}

function routeReconciler(deps: NodeRouteDependencies, tables: RouteTables, queue: Workqueue): Reconciler {
  const { clock, settings, nodes, providers } = deps;
  const { clusterCidrs, windowMs = DEFAULT_WINDOW_MS } = settings;
  const ownWrites = new OwnWrites<Node>();
  const quotas = new QuotaWatch(deps);
  const wake = (name: string): void => queue.add(name, { priority: "low" });
  const waiting = new WaitingNodes(wake);
  const writer = new RouteWriter({
    clock,
    windowMs,
    onQuota: (provider, quota) => quotas.observe(provider, quota),
    onRemoved: () => waiting.wakeAll(),
  });
  const gathering = { nodes: nodes.lister, providers, tables, ownWrites, rules: { clusterCidrs } };
  const applying = { ...deps, tables, writer, waiting, ownWrites, failureCounts: new FailureCounts() };
  const knowsNodes = (): boolean => nodes.lastFailure() === undefined;
  const passing = {
    ...deps,
    ...gathering,
    writer,
    quotas,
    get periodMs() {
      return settings.periodMs;
    },
    knowsNodes,
    wake,
  };
  const steps = stepReconciler(
    {
      gather: async ({ key }) => gather(gathering, key),
      plan,
      apply: (decided, context) => apply(decided, applying, context),
    },
    clock,
  );
  return {
    reconcile: (context) => {
      const provider = providerOfPassKey(context.key);
      return provider === undefined ? steps.reconcile(context) : pass(provider, passing, context);
    },
  };
}
