import { CLOUD_NODE_CONTROLLER } from "../../api/controller-names.ts";
import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import type { InstanceReader } from "../../provider/lookup/instance-reader.ts";
import { nodeLanes, workersFor } from "../../provider/ownership/provider-set.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import { Controller } from "../../runtime/controller.ts";
import type { ControllerMetrics } from "../../runtime/metrics.ts";
import { type Reconciler, stepReconciler } from "../../runtime/reconciler.ts";
import { informerSource, type Source } from "../../runtime/source.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Tracing } from "../../telemetry/tracing.ts";
import type { Clock } from "../../util/clock.ts";
import { Semaphore } from "../../util/semaphore.ts";
import type { QueueMetrics } from "../../workqueue/metrics.ts";
import { DEFAULT_BACKOFF, exponentialLimiter } from "../../workqueue/rate-limiter.ts";
import { createWorkqueue } from "../../workqueue/rate-limited-queue.ts";
import { apply } from "./apply.ts";
import { DroppedLabels } from "./waiting-nodes.ts";
import { gather } from "./gather.ts";
import { createMemory } from "./node-cache.ts";
import type { NodeMetrics } from "./metrics.ts";
import { type FieldPolicy, labelPolicies } from "./plan/labels.ts";
import { plan } from "./plan.ts";
import { changesReconcile, isUninitialized } from "./predicates.ts";

export interface CloudNodeSettings {
  /** Nodes written at once (--concurrent-node-syncs). Many more are looked up at once: they share batches. */
  readonly workers: number;
  /** How often the cloud's facts are read again (--node-status-update-frequency). */
  readonly refreshPeriodMs: number;
  /** What becomes of zone and region labels (--node-topology-policy). */
  readonly topologyPolicy: FieldPolicy;
}

export interface CloudNodeDependencies {
  readonly nodes: Informer<Node>;
  readonly instances: InstanceReader;
  readonly providers: Pick<ProviderSet, "providers" | "ownerOfNode">;
  readonly kube: Pick<KubeClient, "get" | "patch">;
  /** Of source EVENT_SOURCES.cloudNode. */
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: NodeMetrics;
  /** Of the queue that upstream calls `Nodes`. */
  readonly queueMetrics: QueueMetrics;
  readonly controllerMetrics: ControllerMetrics;
  readonly tracing: Tracing;
  /** Calls back whenever a provider has become usable; answers how to end that. */
  readonly onProviderReady: (listener: () => void) => () => void;
  readonly settings: CloudNodeSettings;
}

/**
 * Nodes of one provider looked up at once. Several times the size of a batch, so that a thousand new nodes leave as full batches and not as one
 * batch for each round of writers.
 */
const LOOKUPS = 1000;

/** Upstream's is 1000 s, but there each heartbeat of a Node that waits cuts it short, and one comes at least every 5 min. */
const MAX_BACKOFF_MS = 300_000;

/**
 * Puts the cloud's facts on Nodes that registered with the uninitialized taint and lifts it; then keeps them true, each field by its
 * policy (plan/field-policies.ts).
 */
export function cloudNodeController(deps: CloudNodeDependencies): Controller {
  const { clock, log, queueMetrics, controllerMetrics, tracing, nodes, providers } = deps;
  // Upstream's back-off for a key, without its 10 retries a second for all: that spreads nodes which failed together over minutes, one
  // look-up each. Of 1,000 nodes and a cloud that was away for 6 s it made 999 calls over 99 s; in step they are a few batches.
  const limiter = exponentialLimiter({ ...DEFAULT_BACKOFF, maxMs: MAX_BACKOFF_MS });
  return new Controller({
    name: CLOUD_NODE_CONTROLLER,
    reconciler: nodeReconciler(deps),
    sources: [nodeSource(deps), providerReadySource(deps)],
    queue: createWorkqueue({
      clock,
      limiter,
      metrics: queueMetrics,
      lanes: { laneOf: nodeLanes(nodes.lister, providers), limit: LOOKUPS },
    }),
    workers: workersFor(providers, LOOKUPS),
    clock,
    log,
    metrics: controllerMetrics,
    tracing,
  });
}

function nodeReconciler(deps: CloudNodeDependencies): Reconciler {
  const { nodes, instances, providers, metrics, clock, settings } = deps;
  const memory = createMemory(settings, metrics, clock);
  const applying = { ...deps, memory, droppedLabels: new DroppedLabels() };
  const policies = labelPolicies(settings.topologyPolicy);
  const writers = new Semaphore(settings.workers);
  return stepReconciler(
    {
      gather: (context) => gather({ nodes: nodes.lister, instances, providers, memory }, context),
      plan: (input, nowMs) => plan(input, nowMs, policies),
      apply: async (planned, context) => {
        const leave = await writers.enter(context.priority, context.signal);
        try {
          return await apply(planned, applying, context);
        } finally {
          leave();
        }
      },
    },
    clock,
  );
}

function nodeSource({ nodes, providers }: CloudNodeDependencies): Source {
  const declared = (): readonly string[] => providers.providers.flatMap(({ info }) => info?.nodeAnnotationKeys ?? []);
  return informerSource({
    name: "nodes",
    informer: nodes,
    predicate: {
      add: () => true,
      update: (old, node) => changesReconcile(old, node, declared()),
      delete: () => true,
    },
    // A Node that waits goes before those that are merely read again, also when the controller starts.
    priority: (change) => (isUninitialized(change.object) ? "high" : "low"),
  });
}

/** Nodes that wait are tried at once, together, instead of each at the end of its own back-off; others are read if they are due. */
function providerReadySource({ nodes, onProviderReady }: CloudNodeDependencies): Source {
  return {
    name: "provider ready",
    ready: () => Promise.resolve(),
    start: (queue) =>
      onProviderReady(() => {
        for (const node of nodes.lister.list()) {
          queue.add(keyOf(node), { priority: isUninitialized(node) ? "high" : "low" });
        }
      }),
  };
}
