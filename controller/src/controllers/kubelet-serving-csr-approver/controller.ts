import { EVENT_SOURCES, KUBELET_SERVING_CSR_APPROVER } from "../../api/controller-names.ts";
import { Controller } from "../../runtime/controller.ts";
import { type Reconciler, stepReconciler } from "../../runtime/reconciler.ts";
import type { ControllerContext, Registration } from "../../runtime/registration.ts";
import { informerSource, providerReadySource } from "../../runtime/source.ts";
import { once } from "../../util/once.ts";
import { TokenBucket } from "../../util/token-bucket.ts";
import { apply } from "./apply.ts";
import { ClusterAddressReader } from "./cluster-addresses.ts";
import { gather } from "./gather.ts";
import { type KubeletServingMetrics, kubeletServingMetrics } from "./metrics.ts";
import { plan } from "./plan.ts";
import { changesInstance, decides, isPending } from "./predicates.ts";
import { WaitingRequests } from "./waiting-requests.ts";

type Context = ControllerContext<unknown>;

/** Concurrent evaluations. Requests of nodes that join together share lookups. */
const LOOKUPS = 100;

/** Of a write that the API server rejects. */
const BACKOFF = { initialMs: 1000, maxMs: 300_000 } as const;

/** Limit of reports. */
const REPORT_LIMIT = { burst: 20, perSecond: 1 / 3 } as const;

export const kubeletServing: Registration<unknown> = {
  name: KUBELET_SERVING_CSR_APPROVER,
  queue: KUBELET_SERVING_CSR_APPROVER,
  shortName: KUBELET_SERVING_CSR_APPROVER,
  register: (context) => {
    const metrics = once(() => kubeletServingMetrics(context.program.metrics));
    return { build: () => kubeletServingCsrApprover(context, metrics()) };
  },
};

/**
 * Approves a kubelet's request for a serving certificate if the node made it, and its instance has each requested name and address. Never
 * denies: other approvers decide about the rest.
 */
function kubeletServingCsrApprover(context: Context, metrics: KubeletServingMetrics): Controller {
  const { kubeletServingRequests, nodes } = context.cluster;
  const waiting = new WaitingRequests(metrics.notApproved);
  return new Controller(context, {
    reconciler: requestReconciler(context, metrics, waiting),
    sources: [
      informerSource({
        name: "certificatesigningrequests",
        informer: kubeletServingRequests,
        predicate: { add: isPending, update: decides, delete: () => true },
      }),
      informerSource({
        name: "nodes",
        informer: nodes,
        predicate: { add: () => true, update: changesInstance, delete: () => false },
        keys: ({ metadata }) => waiting.keysOf(metadata.name),
      }),
      providerReadySource(context.providers, (queue) => {
        for (const key of waiting.retriable()) queue.add(key);
      }),
    ],
    workers: LOOKUPS,
    backoff: BACKOFF,
  });
}

function requestReconciler(
  { cluster, providers: { instances, providers }, program: { clock } }: Context,
  metrics: KubeletServingMetrics,
  waiting: WaitingRequests,
): Reconciler {
  const requests = cluster.kubeletServingRequests.lister;
  const { apiServerHost } = cluster;
  const clusterAddresses = new ClusterAddressReader(cluster.client, clock);
  const gathering = {
    requests,
    nodes: cluster.nodes.lister,
    instances,
    providers,
    waiting,
    clock,
    clusterAddresses,
    apiServerHost,
  };
  const events = cluster.events.recorder(EVENT_SOURCES.kubeletServing);
  const applying = {
    kube: cluster.client,
    events,
    metrics,
    waiting,
    reportLimit: new TokenBucket(REPORT_LIMIT, clock),
  };
  return stepReconciler(
    {
      gather: (context) => gather(gathering, context),
      plan,
      apply: (planned, context) => apply(planned, applying, context),
    },
    clock,
  );
}
