import { EVENT_SOURCES, SERVICE_LB_CONTROLLER } from "../../api/controller-names.ts";
import { keyOf } from "../../api/meta.ts";
import type { Service } from "../../api/service.ts";
import { OwnWrites } from "../../kube/cache/store.ts";
import type { LoadBalancerSettings } from "../../provider/convert/service.ts";
import { subqueueOfOwner, subqueueCount } from "../../provider/ownership/provider-set.ts";
import { Controller } from "../../runtime/controller.ts";
import { DONE, type Reconciler, stepReconciler } from "../../runtime/reconciler.ts";
import type { ControllerContext, Registration } from "../../runtime/registration.ts";
import { informerSource, providerReadySource, type Source } from "../../runtime/source.ts";
import { once } from "../../util/once.ts";
import type { Workqueue } from "../../workqueue/queue.ts";
import { SERVICE_BACKOFF } from "../../workqueue/rate-limited-queue.ts";
import { apply, reportFailure } from "./apply/apply.ts";
import { PacedConditions } from "./apply/status.ts";
import { type WaitsFor, failureKind, settleFailure, waitsFor } from "./failure.ts";
import { CheckPace } from "./check-pace.ts";
import { DriftSweep, driftSource } from "./drift-sweep.ts";
import { FailureCounts } from "../../runtime/history.ts";
import { type Gathered, gather } from "./gather/gather.ts";
import { type DriftPace, isPerhapsForeign } from "./gather/owner.ts";
import { LoadBalancerLister } from "./gather/load-balancer-lister.ts";
import { exposeConditionReasons, type ServiceMetrics, serviceMetrics } from "./metrics.ts";
import type { ServiceOptions } from "./options.ts";
import { NodeSync, nodesSource, statusSource } from "./sources.ts";
import { plan } from "./plan/plan.ts";
import { hintOf, currentProviderOf, releasedBy } from "./record/record.ts";
import { Records } from "./record/records.ts";
import { WaitingServices } from "./waiting-services.ts";
import { concernsAdded, concernsUpdated, isSweepKey, sweptProvider } from "./predicates.ts";
import { Targets } from "./gather/desired.ts";

/** service-lb-controller. */
export const serviceLb: Registration<ServiceOptions> = {
  name: SERVICE_LB_CONTROLLER,
  queue: "service",
  shortName: "service",
  register: (context) => {
    const { cluster, providers, program } = context;
    const metrics = once(() => {
      exposeConditionReasons(program.metrics, () => cluster.services.lister.list(), providers.providers);
      return serviceMetrics(program.metrics);
    });
    return { build: () => serviceLbController(context, metrics()) };
  },
};

type ServiceLbDependencies = ReturnType<typeof dependenciesOf>;

function dependenciesOf(
  { options, cluster, providers, program }: ControllerContext<ServiceOptions>,
  metrics: ServiceMetrics,
) {
  return {
    ...program,
    options,
    metrics,
    services: cluster.services,
    nodes: cluster.nodes,
    providers: providers.providers,
    kube: cluster.client,
    events: cluster.events.recorder(EVENT_SOURCES.service),
  };
}

const LOAD_BALANCERS: LoadBalancerSettings = { tags: {} };

type State = ReturnType<typeof stateOf>;

/** What the reconciles of one process share. */
function stateOf({ clock, random, options, nodes, providers, metrics }: ServiceLbDependencies) {
  const pace: DriftPace = {
    get periodMs() {
      return options.loadBalancerDriftPeriod;
    },
  };
  return {
    records: new Records(),
    targets: new Targets({ nodes: nodes.lister, providers }),
    lister: new LoadBalancerLister(clock),
    nodeSync: new NodeSync({ metrics, clock }),
    ownWrites: new OwnWrites<Service>(),
    failures: new FailureCounts(),
    waiting: new WaitingServices(),
    conditions: new PacedConditions(clock),
    pace,
    checks: new CheckPace({ clock, random, pace }),
  };
}

/** Changes of a Service and of nodes use the one key of the Service, so that calls for one Service never overlap. */
function serviceLbController(context: ControllerContext<ServiceOptions>, metrics: ServiceMetrics): Controller {
  const deps = dependenciesOf(context, metrics);
  const state = stateOf(deps);
  const { options, providers } = deps;
  const sweep = new DriftSweep({ ...deps, ...state, services: deps.services.lister });
  const services = serviceReconciler(deps, state);
  return new Controller(context, {
    reconciler: {
      reconcile: (context) => (isSweepKey(context.key) ? sweep.reconcile(context) : services.reconcile(context)),
    },
    sources: [
      serviceSource(deps, state),
      statusSource({ ...deps, ...state }),
      nodesSource({ ...deps, ...state }),
      providerReadySource(context.providers, (queue) => enqueueAll(deps, state, queue)),
      driftSource({ ...deps, ...state }),
      state.waiting.source,
    ],
    subqueues: { of: (key) => subqueueOf(key, deps, state), count: subqueueCount(providers) },
    workers: options.concurrentServiceSyncs,
    backoff: SERVICE_BACKOFF,
    objects: deps.services.lister,
  });
}

/** The queue of the current provider, or else of the owner. */
function subqueueOf(key: string, { services, providers }: ServiceLbDependencies, { records }: State): string {
  if (isSweepKey(key)) return sweptProvider(key);
  const service = services.lister.get(key);
  return currentProviderOf(records.get(key))?.provider ?? subqueueOfOwner(service && providers.ownerOfService(service));
}

function serviceReconciler(deps: ServiceLbDependencies, state: State): Reconciler {
  const { services, providers, clock, options } = deps;
  const { records, nodeSync, failures, waiting } = state;
  const gathering = {
    ...state,
    services: services.lister,
    providers,
    settings: LOAD_BALANCERS,
    mayAdopt: () => options.allowLoadBalancerAdoption,
    clock,
  };
  const applying = { ...deps, ...state, services: services.lister };
  const steps = stepReconciler(
    {
      gather: (context) => gather(gathering, context),
      plan: ({ news, input }: Gathered) => ({ news, planned: input && plan(input) }),
      apply: async ({ news, planned }, context) => {
        records.commit(context.key, ...news);
        return planned === undefined ? DONE : apply(planned, { ...applying, context });
      },
    },
    clock,
  );
  return {
    reconcile: async (context) => {
      const before = records.get(context.key);
      let waits: WaitsFor | undefined;
      try {
        const result = await steps.reconcile(context);
        failures.succeeded(context.key);
        return result;
      } catch (error) {
        waits = waitsFor(error);
        const inARow = failures.failed(context.key, failureKind(error));
        const cached = services.lister.get(context.key);
        const record = records.get(context.key);
        const service = cached && isPerhapsForeign(deps, cached, currentProviderOf(record)) ? undefined : cached;
        if (service !== undefined) await reportFailure(error, service, { ...deps, ...state, inARow, context });
        const regarding = service ?? (hintOf(record) && currentProviderOf(record)?.sent);
        return settleFailure(error, regarding, { ...deps, inARow }, context);
      } finally {
        nodeSync.tried(context.key);
        const after = records.get(context.key);
        waiting.ended(context.key, {
          provider: subqueueOf(context.key, deps, state),
          waits,
          released: releasedBy(before, after),
          isChanging: after?.state.kind === "changing",
        });
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
        // Deleted and recreated between two events.
        if (old.metadata.uid !== service.metadata.uid)
          records.commit(keyOf(old), { kind: "serviceDeleted", last: old });
        return concernsUpdated(old, service);
      },
      // Unlike upstream: otherwise a Service without finalizer would leave its load balancer behind.
      delete: (service) => {
        const key = keyOf(service);
        const isOfConcern = concernsAdded(service) || records.get(key) !== undefined;
        if (isOfConcern) records.commit(key, { kind: "serviceDeleted", last: service });
        return isOfConcern;
      },
    },
  });
}

/** Services that are up to date cost no call. */
function enqueueAll({ services }: ServiceLbDependencies, { records }: State, queue: Workqueue): void {
  for (const service of services.lister.list()) {
    if (concernsAdded(service)) queue.add(keyOf(service), { priority: "low" });
  }
  // Deleted Services, too.
  for (const [key, record] of records.list()) {
    if (currentProviderOf(record) !== undefined) queue.add(key, { priority: "low" });
  }
}
