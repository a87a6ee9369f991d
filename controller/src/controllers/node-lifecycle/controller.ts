import { CLOUD_NODE_LIFECYCLE_CONTROLLER, EVENT_SOURCES } from "../../api/controller-names.ts";
import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import { OwnWrites } from "../../kube/cache/store.ts";
import { isObserved, type ModeOptions, modesOf } from "../../observe/mode.ts";
import { nodeSubqueues } from "../../provider/ownership/provider-set.ts";
import { Controller } from "../../runtime/controller.ts";
import { DONE, type Reconciler, stepReconciler } from "../../runtime/reconciler.ts";
import type { ControllerContext, Registration } from "../../runtime/registration.ts";
import { informerSource, providerReadySource } from "../../runtime/source.ts";
import type { Clock } from "../../util/clock.ts";
import { once } from "../../util/once.ts";
import { Semaphore } from "../../util/semaphore.ts";
import { TokenBucket } from "../../util/token-bucket.ts";
import { announce, apply, type ApplyDependencies, commit } from "./apply.ts";
import { DeletionHistory, LeaseDeletions } from "./deletion-history.ts";
import { circuitBreakerOf, guardInputOf, gather, type GatherDependencies } from "./gather.ts";
import { CircuitBreakerReport, countedReader, type NodeLifecycleMetrics, nodeLifecycleMetrics } from "./metrics.ts";
import { NodeRecords, NodeCounts, ProviderHistory } from "./node-history.ts";
import type { NodeLifecycleOptions } from "./options.ts";
import { fold, type Plan, plan } from "./plan.ts";
import { changesReconcile, needsLookup } from "./predicates.ts";

type Context = ControllerContext<NodeLifecycleOptions>;

/** Outlives an instance of the controller, so that a restart does not reset the circuit breaker. */
interface History {
  readonly providerHistory: ProviderHistory;
  readonly deletions: DeletionHistory;
}

/** Concurrent lookups of one provider. Several times the size of a batch, so that a thousand nodes go out in full batches. */
const LOOKUPS = 1000;

/** Of events about Nodes whose instance the provider does not know. What exceeds it is reported at a later lookup. */
const REPORT_LIMIT = { burst: 20, perSecond: 1 / 3 } as const;

/** A newly registered Node is kept for this long. */
const MIN_AGE_MS = 60_000;

/** Of a write that the API server rejects. */
const MAX_BACKOFF_MS = 300_000;

/** No deletions for this long after a provider error. */
const FREEZE_MS = 60_000;

export const nodeLifecycle: Registration<NodeLifecycleOptions & ModeOptions> = {
  name: CLOUD_NODE_LIFECYCLE_CONTROLLER,
  queue: "node-lifecycle",
  shortName: "cloud-node-lifecycle",
  keepsOnLease: true,
  register: (context) => {
    const { options, program } = context;
    const metrics = once(() => nodeLifecycleMetrics(program.metrics));
    const deletions = new DeletionHistory(program);
    const history = { providerHistory: new ProviderHistory(), deletions };
    const isActive = (provider: string): boolean =>
      !isObserved(modesOf(options), CLOUD_NODE_LIFECYCLE_CONTROLLER, provider);
    return {
      build: () => nodeLifecycleController(context, metrics(), history),
      leaseAnnotations: [new LeaseDeletions(deletions, program.identity, isActive)],
    };
  },
};

/** Deletes Nodes whose instance no longer exists, and taints those whose instance is stopped. Each deletion must pass guard/guard.ts. */
function nodeLifecycleController(context: Context, metrics: NodeLifecycleMetrics, history: History): Controller {
  const { options, cluster, providers } = context;
  const { nodes } = cluster;
  return new Controller(context, {
    reconciler: nodeReconciler(context, metrics, history),
    sources: [
      informerSource({
        name: "nodes",
        informer: nodes,
        predicate: { add: needsLookup, update: changesReconcile, delete: () => true },
      }),
      providerReadySource(providers, (queue) => {
        for (const node of nodes.lister.list()) if (needsLookup(node)) queue.add(keyOf(node), { priority: "low" });
      }),
    ],
    subqueues: nodeSubqueues(nodes.lister, providers.providers),
    workers: LOOKUPS,
    backoff: {
      get initialMs() {
        return options.nodeMonitorPeriod;
      },
      maxMs: MAX_BACKOFF_MS,
    },
  });
}

/** Getters, because options may change while the controller runs. */
function gatheringOf(
  { options, cluster, providers: { instances, providers }, program: { clock } }: Context,
  metrics: NodeLifecycleMetrics,
  known: Pick<GatherDependencies, "records" | "providerHistory" | "ownWrites">,
): GatherDependencies {
  const { lister: nodes } = cluster.nodes;
  return {
    ...known,
    nodes,
    instances: countedReader(instances, metrics),
    providers,
    nodeCounts: new NodeCounts(nodes, providers, clock),
    clock,
    get rules() {
      return {
        confirmations: options.nodeDeletionConfirmations,
        spanMs: options.nodeDeletionConfirmationPeriod,
        minAgeMs: MIN_AGE_MS,
        settleMs: options.nodeMonitorPeriod,
        freezeMs: FREEZE_MS,
        deletesNothing: options.nodeDeletionProtection,
      };
    },
    get maxPercent() {
      return options.nodeDeletionMaxPercent;
    },
    get maxDataAgeMs() {
      return options.nodeMonitorPeriod;
    },
  };
}

function nodeReconciler(context: Context, metrics: NodeLifecycleMetrics, history: History): Reconciler {
  const { options, cluster, providers, program } = context;
  const { clock, log } = program;
  const { deletions, providerHistory } = history;
  const known = { records: new NodeRecords(deletions), providerHistory, ownWrites: new OwnWrites<Node>() };
  const gathering = gatheringOf(context, metrics, known);
  const applying: ApplyDependencies = {
    ...known,
    kube: cluster.client,
    events: cluster.events.recorder(EVENT_SOURCES.cloudNodeLifecycle),
    metrics,
    deletions,
    clock,
    get lookups() {
      return { periodMs: options.nodeMonitorPeriod, maxMs: options.nodeDeletionConfirmationPeriod };
    },
    guardInputOf: (node, provider) => guardInputOf(gathering, node, provider),
    reportLimit: new TokenBucket(REPORT_LIMIT, clock),
  };
  const report = new CircuitBreakerReport(metrics, log);
  const writers = new Semaphore(options.concurrentNodeLifecycleSyncs);
  return stepReconciler(
    {
      gather: async (reconcile) => {
        const startMs = clock.monotonicMs();
        return { seen: await gather(gathering, reconcile), startMs };
      },
      plan: ({ seen, startMs }, nowMs) => {
        const { news, input } = fold(seen);
        return { news, planned: input && plan(input, nowMs), startMs: input?.lookup && startMs };
      },
      apply: async ({ news, planned, startMs }, reconcile) => {
        using _duration = observedDuration(startMs, clock, metrics);
        commit(news, applying, reconcile.key);
        for (const { name } of providers.providers.providers) report.observe(name, circuitBreakerOf(gathering, name));
        if (planned === undefined) return DONE;
        if (!writes(planned)) return apply(planned, applying, reconcile);
        using _announced = await announce(planned, applying, reconcile);
        return await writers.run(reconcile, () => apply(planned, applying, reconcile));
      },
    },
    clock,
  );
}

/** Observes the duration when it is disposed. @param startMs undefined: no instance was looked up */
function observedDuration(
  startMs: number | undefined,
  clock: Clock,
  { durationSeconds }: NodeLifecycleMetrics,
): Disposable {
  return {
    [Symbol.dispose]: () => {
      if (startMs !== undefined) durationSeconds.observe((clock.monotonicMs() - startMs) / 1000);
    },
  };
}

function writes(planned: Plan): boolean {
  return planned.kind === "delete" || ("needsPatch" in planned && planned.needsPatch);
}
