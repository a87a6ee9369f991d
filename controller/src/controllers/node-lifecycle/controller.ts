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
import { once } from "../../util/once.ts";
import { Semaphore } from "../../util/semaphore.ts";
import { announce, apply, type ApplyDependencies, commit } from "./apply.ts";
import { DeletionHistory, LeaseDeletions } from "./deletion-history.ts";
import { circuitBreakerOf, guardInputOf, gather, type GatherDependencies } from "./gather.ts";
import { CircuitBreakerReport, type NodeLifecycleMetrics, nodeLifecycleMetrics } from "./metrics.ts";
import { NodeRecords, NodeCounts, ProviderHistory } from "./node-history.ts";
import type { NodeLifecycleOptions } from "./options.ts";
import { fold, type Plan, plan } from "./plan.ts";
import { changesReconcile, needsLook } from "./predicates.ts";

type Context = ControllerContext<NodeLifecycleOptions>;

/** What outlives an instance of the controller: the brake must not begin anew because the controller was built afresh. */
interface NodeLifecycleHistory {
  readonly memory: ProviderHistory;
  readonly deletions: DeletionHistory;
}

/** Nodes of one provider looked up at once: several times the size of a batch, so that a thousand of them leave as full batches. */
const LOOKUPS = 1000;

/** Deletions and patches at once. */
const WRITERS = 16;

/** What a kubelet that has just registered gets, whatever the cloud says. */
const MIN_AGE_MS = 60_000;

/** Between tries of a write that the API server refuses. */
const MAX_BACKOFF_MS = 300_000;

/** Without deletions after a provider failed. */
const FREEZE_MS = 60_000;

/** cloud-node-lifecycle-controller. */
export const nodeLifecycle: Registration<NodeLifecycleOptions & ModeOptions> = {
  name: CLOUD_NODE_LIFECYCLE_CONTROLLER,
  queue: "node-lifecycle",
  shortName: "cloud-node-lifecycle",
  keepsOnLease: true,
  register: (context) => {
    const { options, program } = context;
    const metrics = once(() => nodeLifecycleMetrics(program.metrics));
    const deletions = new DeletionHistory(program);
    const history = { memory: new ProviderHistory(), deletions };
    const isActive = (provider: string): boolean =>
      !isObserved(modesOf(options), CLOUD_NODE_LIFECYCLE_CONTROLLER, provider);
    return {
      build: () => nodeLifecycleController(context, metrics(), history),
      leaseAnnotations: [new LeaseDeletions(deletions, program.identity, isActive)],
    };
  },
};

/**
 * Deletes Nodes whose machine does not exist any more, and marks those whose machine is stopped. Looks at Nodes that are not Ready,
 * and deletes none before the guard (guard/guard.ts) is sure.
 */
function nodeLifecycleController(
  context: Context,
  metrics: NodeLifecycleMetrics,
  history: NodeLifecycleHistory,
): Controller {
  const { options, cluster, providers } = context;
  const { nodes } = cluster;
  return new Controller(context, {
    reconciler: nodeReconciler(context, metrics, history),
    sources: [
      informerSource({
        name: "nodes",
        informer: nodes,
        predicate: { add: needsLook, update: changesReconcile, delete: () => true },
      }),
      providerReadySource(providers, (queue) => {
        for (const node of nodes.lister.list()) if (needsLook(node)) queue.add(keyOf(node), { priority: "low" });
      }),
    ],
    subqueues: nodeSubqueues(nodes.lister, providers.providers),
    workers: LOOKUPS,
    // Each try asks the cloud anew.
    backoff: {
      get initialMs() {
        return options.nodeMonitorPeriod;
      },
      maxMs: MAX_BACKOFF_MS,
    },
  });
}

/** Getters: options may change while the controller runs. */
function gatheringOf(
  { options, cluster, providers: { instances, providers }, program: { clock } }: Context,
  known: Pick<GatherDependencies, "records" | "memory" | "ownWrites">,
): GatherDependencies {
  const { lister: nodes } = cluster.nodes;
  return {
    ...known,
    nodes,
    instances,
    providers,
    nodeCounts: new NodeCounts(nodes, providers, clock),
    clock,
    get rules() {
      const {
        nodeDeletionConfirmations: confirmations,
        nodeDeletionConfirmationPeriod: spanMs,
        nodeMonitorPeriod: settleMs,
      } = options;
      return { confirmations, spanMs, minAgeMs: MIN_AGE_MS, settleMs, freezeMs: FREEZE_MS };
    },
    get maxPercent() {
      return options.nodeDeletionMaxPercent;
    },
    get maxDataAgeMs() {
      return options.nodeMonitorPeriod;
    },
  };
}

function nodeReconciler(
  context: Context,
  metrics: NodeLifecycleMetrics,
  { memory, deletions }: NodeLifecycleHistory,
): Reconciler {
  const { options, cluster, providers, program } = context;
  const { clock, log } = program;
  const known = { records: new NodeRecords(deletions), memory, ownWrites: new OwnWrites<Node>() };
  const gathering = gatheringOf(context, known);
  const applying: ApplyDependencies = {
    ...known,
    kube: cluster.client,
    events: cluster.events.recorder(EVENT_SOURCES.cloudNodeLifecycle),
    metrics,
    deletions,
    clock,
    get pace() {
      return { periodMs: options.nodeMonitorPeriod, maxMs: options.nodeDeletionConfirmationPeriod };
    },
    guardInputOf: (node) => guardInputOf(gathering, node),
  };
  const report = new CircuitBreakerReport(metrics, log);
  const writers = new Semaphore(WRITERS);
  return stepReconciler(
    {
      gather: (reconcile) => gather(gathering, reconcile),
      plan: (seen, nowMs) => {
        const { news, input } = fold(seen);
        return { news, planned: input && plan(input, nowMs) };
      },
      apply: async ({ news, planned }, reconcile) => {
        commit(news, applying, reconcile.key);
        for (const { name } of providers.providers.providers) report.see(name, circuitBreakerOf(gathering, name));
        if (planned === undefined) return DONE;
        if (!writes(planned)) return apply(planned, applying, reconcile);
        using _announced = await announce(planned, applying, reconcile);
        return await writers.run(reconcile, () => apply(planned, applying, reconcile));
      },
    },
    clock,
  );
}

function writes(planned: Plan): boolean {
  return planned.kind === "delete" || ("needsPatch" in planned && planned.needsPatch);
}
