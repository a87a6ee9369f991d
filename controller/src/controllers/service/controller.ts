import { SERVICE_LB_CONTROLLER } from "../../api/controller-names.ts";
import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import { OwnWrites } from "../../kube/cache/own-writes.ts";
import type { LoadBalancerSettings } from "../../provider/convert/service.ts";
import { laneOf, workersFor } from "../../provider/ownership/provider-set.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import { Controller } from "../../runtime/controller.ts";
import type { ControllerMetrics } from "../../runtime/metrics.ts";
import { DONE, type Reconciler, stepReconciler } from "../../runtime/reconciler.ts";
import { informerSource, type Source } from "../../runtime/source.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Tracing } from "../../telemetry/tracing.ts";
import type { Clock, Random } from "../../util/clock.ts";
import type { QueueMetrics } from "../../workqueue/metrics.ts";
import { exponentialLimiter, SERVICE_BACKOFF } from "../../workqueue/rate-limiter.ts";
import { createWorkqueue } from "../../workqueue/rate-limited-queue.ts";
import { apply, tellFailure } from "./apply/apply.ts";
import { ChangeLimiter } from "../../provider/limits/change-limiter.ts";
import { PacedConditions } from "./apply/status.ts";
import { failureKind, settleFailure } from "./failure.ts";
import { DriftSweep, driftSource, isSweepKey, sweptProvider } from "./drift-sweep.ts";
import { FailureCounts } from "../../runtime/history.ts";
import { type Gathered, gather } from "./gather/gather.ts";
import { type DriftPace, isPerhapsForeign } from "./gather/owner.ts";
import { LoadBalancerLister } from "./gather/load-balancer-lister.ts";
import type { ServiceMetrics } from "./metrics.ts";
import { type NodePace, NodeSync, nodesSource, statusSource } from "./sources.ts";
import { plan } from "./plan/plan.ts";
import { hintOf, holderOf } from "./record/record.ts";
import { Records } from "./record/records.ts";
import { concernsAdded, concernsUpdated } from "./predicates.ts";
import { Targets } from "./gather/targets.ts";

export interface ServiceLbSettings {
  /** Services of one provider in work at once (--concurrent-service-syncs). */
  readonly workers: number;
  /**
   * How often each provider is asked whether it still has what it acknowledged (--load-balancer-drift-period); may change while the
   * controller runs.
   * @default 0: never
   */
  readonly driftPeriodMs?: number;
  /**
   * Services may take over load balancers that exist (--adopt-load-balancers); may change while the controller runs.
   * @default false
   */
  readonly adoptsLoadBalancers?: boolean;
  readonly loadBalancers: LoadBalancerSettings;
}

export interface ServiceLbDependencies {
  readonly services: Informer<Service>;
  readonly nodes: Informer<Node>;
  readonly providers: ProviderSet;
  readonly kube: Pick<KubeClient, "patch">;
  /** Of source EVENT_SOURCES.service. */
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  /** A new id for each intended change of a load balancer. */
  readonly newId: () => string;
  readonly log: Logger;
  readonly metrics: ServiceMetrics;
  /** Of the queue that upstream calls `service`. */
  readonly queueMetrics: QueueMetrics;
  readonly controllerMetrics: ControllerMetrics;
  readonly tracing: Tracing;
  /** Calls back whenever a provider has become usable; answers how to end that. */
  readonly onProviderReady: (listener: () => void) => () => void;
  readonly settings: ServiceLbSettings;
}

/**
 * One node shows after a second; a pool that is scaled up is an update of each load balancer every five seconds, where one a node, of
 * hundreds of load balancers, would keep a cloud busy for minutes.
 */
const NODE_PACE: NodePace = { quietMs: 1000, longestMs: 5000 };

/** What the reconciles of one process share. */
interface State {
  readonly records: Records;
  readonly targets: Targets;
  readonly lister: LoadBalancerLister;
  readonly nodeSync: NodeSync;
  readonly ownWrites: OwnWrites<Service>;
  readonly gate: ChangeLimiter;
  readonly failures: FailureCounts;
  readonly conditions: PacedConditions;
  readonly pace: DriftPace;
}

/**
 * Gives Services of type LoadBalancer what their provider makes of them, keeps the nodes behind it current, and takes it down again.
 * Changes of a Service and of nodes meet in the Service's one key, so calls for one Service never overlap.
 */
export function serviceLbController(deps: ServiceLbDependencies): Controller {
  const { clock, log, settings, nodes, providers, metrics, queueMetrics, controllerMetrics, tracing } = deps;
  const state: State = {
    records: new Records(),
    targets: new Targets({ nodes: nodes.lister, providers }),
    lister: new LoadBalancerLister(clock),
    nodeSync: new NodeSync({ metrics, clock }),
    ownWrites: new OwnWrites(),
    gate: new ChangeLimiter(),
    failures: new FailureCounts(),
    conditions: new PacedConditions(clock),
    pace: {
      get periodMs() {
        return settings.driftPeriodMs ?? 0;
      },
    },
  };
  const { records, lister, pace } = state;
  const sweep = new DriftSweep({ ...deps, services: deps.services.lister, records, lister, pace });
  const services = serviceReconciler(deps, state);
  return new Controller({
    name: SERVICE_LB_CONTROLLER,
    reconciler: {
      reconcile: (context) => (isSweepKey(context.key) ? sweep.reconcile(context) : services.reconcile(context)),
    },
    sources: [
      serviceSource(deps, state),
      statusSource({ ...deps, records }),
      nodesSource({ ...deps, ...state, pace: NODE_PACE }),
      providerReadySource(deps, state),
      driftSource({ ...deps, records, pace }),
    ],
    queue: createWorkqueue({
      clock,
      limiter: exponentialLimiter(SERVICE_BACKOFF),
      metrics: queueMetrics,
      lanes: { laneOf: (key) => laneOfKey(key, deps, state), limit: settings.workers },
    }),
    workers: workersFor(providers, settings.workers),
    objects: deps.services.lister,
    clock,
    log,
    metrics: controllerMetrics,
    tracing,
  });
}

/** Whoever has the load balancer is waited for, then whoever is to have it. */
function laneOfKey(key: string, { services, providers }: ServiceLbDependencies, { records }: State): string {
  if (isSweepKey(key)) return sweptProvider(key);
  const service = services.lister.get(key);
  return holderOf(records.get(key))?.provider ?? laneOf(service && providers.ownerOfService(service));
}

function serviceReconciler(deps: ServiceLbDependencies, state: State): Reconciler {
  const { services, providers, clock, settings } = deps;
  const { records, nodeSync, failures } = state;
  const gathering = {
    ...state,
    services: services.lister,
    providers,
    settings: settings.loadBalancers,
    mayAdopt: () => settings.adoptsLoadBalancers === true,
    clock,
  };
  const applying = { ...deps, ...state, services: services.lister };
  const steps = stepReconciler(
    {
      gather: (context) => gather(gathering, context),
      plan: ({ news, input }: Gathered) => ({ news, planned: input && plan(input) }),
      apply: async ({ news, planned }, context) => {
        records.commit(context.key, ...news);
        return planned === undefined ? DONE : apply(planned, applying, context);
      },
    },
    clock,
  );
  return {
    reconcile: async (context) => {
      try {
        const result = await steps.reconcile(context);
        failures.succeeded(context.key);
        return result;
      } catch (error) {
        const inARow = failures.failed(context.key, failureKind(error));
        const cached = services.lister.get(context.key);
        const record = records.get(context.key);
        const service = cached && isPerhapsForeign(deps, cached, holderOf(record)) ? undefined : cached;
        if (service !== undefined) await tellFailure(error, service, { ...deps, ...state, inARow }, context);
        const regarding = service ?? (hintOf(record) && holderOf(record)?.sent);
        return settleFailure(error, regarding, { ...deps, inARow }, context);
      } finally {
        nodeSync.tried(context.key);
      }
    },
  };
}

function serviceSource({ services }: ServiceLbDependencies, { records }: State): Source {
  return informerSource({
    name: "services",
    informer: services,
    predicate: {
      add: concernsAdded,
      update: (old, service) => {
        // Deleted and made anew between two looks at the server.
        if (old.metadata.uid !== service.metadata.uid)
          records.commit(keyOf(old), { kind: "serviceDeleted", last: old });
        return concernsUpdated(old, service);
      },
      // Upstream hears of no deletion: a Service without finalizer would leave its load balancer behind.
      delete: (service) => {
        const key = keyOf(service);
        const isOfConcern = concernsAdded(service) || records.get(key) !== undefined;
        if (isOfConcern) records.commit(key, { kind: "serviceDeleted", last: service });
        return isOfConcern;
      },
    },
  });
}

/** What waits for a provider is tried at once, deletions too; what needs nothing costs nothing. */
function providerReadySource({ services, onProviderReady }: ServiceLbDependencies, { records }: State): Source {
  return {
    name: "provider ready",
    ready: () => Promise.resolve(),
    start: (queue) =>
      onProviderReady(() => {
        for (const service of services.lister.list()) {
          if (concernsAdded(service)) queue.add(keyOf(service), { priority: "low" });
        }
        // Services that are gone, too.
        for (const [key, record] of records.list()) {
          if (holderOf(record) !== undefined) queue.add(key, { priority: "low" });
        }
      }),
  };
}
