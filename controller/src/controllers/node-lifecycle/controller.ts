import { CLOUD_NODE_LIFECYCLE_CONTROLLER } from "../../api/controller-names.ts";
import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import { OwnWrites } from "../../kube/cache/own-writes.ts";
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
import { exponentialLimiter } from "../../workqueue/rate-limiter.ts";
import { createWorkqueue } from "../../workqueue/rate-limited-queue.ts";
import { announce, apply } from "./apply.ts";
import { BrakeReport, type NodeLifecycleMetrics } from "./metrics.ts";
import type { DeletionLedger } from "./deletion-history.ts";
import { brakeOf, caseOf, gather, type GatherDependencies } from "./gather.ts";
import { NodeRecords, Population, type ProviderMemory } from "./node-history.ts";
import { type Plan, plan } from "./plan.ts";
import { changesReconcile, needsLook } from "./predicates.ts";

/** May change while the controller runs. */
export interface NodeLifecycleSettings {
  /** --node-monitor-period. */
  readonly periodMs: number;
  /** --node-deletion-confirmations. */
  readonly confirmations: number;
  /** --node-deletion-span. */
  readonly spanMs: number;
  /** --node-deletion-max-percent. */
  readonly maxPercent: number;
}

export interface NodeLifecycleDependencies {
  readonly nodes: Informer<Node>;
  readonly instances: InstanceReader;
  readonly providers: ProviderSet;
  readonly kube: Pick<KubeClient, "get" | "patch" | "delete">;
  /** Of source EVENT_SOURCES.cloudNodeLifecycle. */
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: NodeLifecycleMetrics;
  readonly queueMetrics: QueueMetrics;
  readonly controllerMetrics: ControllerMetrics;
  readonly tracing: Tracing;
  /** Calls back whenever a provider has become usable; answers how to end that. */
  readonly onProviderReady: (listener: () => void) => () => void;
  readonly settings: NodeLifecycleSettings;
  /** Outlives the controller. */
  readonly memory: ProviderMemory;
  /** Outlives the controller: the brake must not begin anew because the controller was built afresh. */
  readonly deletions: DeletionLedger;
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

/**
 * Deletes Nodes whose machine does not exist any more, and marks those whose machine is stopped. Looks at Nodes that are not Ready,
 * and deletes none before the guard (plan/guard.ts) is sure.
 */
export function nodeLifecycleController(deps: NodeLifecycleDependencies): Controller {
  const { clock, log, queueMetrics, controllerMetrics, tracing, settings, nodes, providers } = deps;
  // Each try asks the cloud anew.
  const limiter = exponentialLimiter({
    get initialMs() {
      return settings.periodMs;
    },
    maxMs: MAX_BACKOFF_MS,
  });
  return new Controller({
    name: CLOUD_NODE_LIFECYCLE_CONTROLLER,
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

function nodeReconciler(deps: NodeLifecycleDependencies): Reconciler {
  const { nodes, instances, providers, clock, metrics, log, settings, memory, deletions } = deps;
  // Getters: settings may change while this runs.
  const gathering: GatherDependencies = {
    nodes: nodes.lister,
    instances,
    providers,
    population: new Population(nodes.lister, providers, clock),
    records: new NodeRecords(deletions),
    memory,
    ownWrites: new OwnWrites<Node>(),
    clock,
    get rules() {
      const { confirmations, spanMs, periodMs } = settings;
      return { confirmations, spanMs, minAgeMs: MIN_AGE_MS, settleMs: periodMs, freezeMs: FREEZE_MS };
    },
    get maxPercent() {
      return settings.maxPercent;
    },
    get maxDataAgeMs() {
      return settings.periodMs;
    },
  };
  const { records, ownWrites } = gathering;
  const applying = {
    ...deps,
    records,
    ownWrites,
    get pace() {
      return { periodMs: settings.periodMs, maxMs: settings.spanMs };
    },
    caseOf: (node: Node) => caseOf(gathering, node),
  };
  const report = new BrakeReport(metrics, log);
  const writers = new Semaphore(WRITERS);
  return stepReconciler(
    {
      gather: async (context) => {
        const input = await gather(gathering, context);
        for (const { name } of providers.providers) report.see(name, brakeOf(gathering, name));
        return input;
      },
      plan,
      apply: async (planned, context) => {
        if (!writes(planned)) return apply(planned, applying, context);
        using _announced = await announce(planned, applying, context);
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

function writes(planned: Plan): boolean {
  return planned.kind === "delete" || ("needsPatch" in planned && planned.needsPatch);
}

function nodeSource({ nodes }: NodeLifecycleDependencies): Source {
  return informerSource({
    name: "nodes",
    informer: nodes,
    predicate: { add: needsLook, update: changesReconcile, delete: () => true },
  });
}

/** What could not be asked is asked at once, together. */
function providerReadySource({ nodes, onProviderReady }: NodeLifecycleDependencies): Source {
  return {
    name: "provider ready",
    ready: () => Promise.resolve(),
    start: (queue) =>
      onProviderReady(() => {
        for (const node of nodes.lister.list()) {
          if (needsLook(node)) queue.add(keyOf(node), { priority: "low" });
        }
      }),
  };
}
