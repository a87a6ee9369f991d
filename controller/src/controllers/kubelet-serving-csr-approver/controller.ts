import { EVENT_SOURCES, KUBELET_SERVING_CSR_APPROVER } from "../../api/controller-names.ts";
import { Controller } from "../../runtime/controller.ts";
import { type Reconciler, stepReconciler } from "../../runtime/reconciler.ts";
import type { ControllerContext, Registration } from "../../runtime/registration.ts";
import { informerSource, providerReadySource } from "../../runtime/source.ts";
import { once } from "../../util/once.ts";
import { TokenBucket } from "../../util/token-bucket.ts";
import { apply } from "./apply.ts";
import { gather } from "./gather.ts";
import { type KubeletServingMetrics, kubeletServingMetrics } from "./metrics.ts";
import { plan } from "./plan.ts";
import { changesInstance, decides, isPending } from "./predicates.ts";
import { WaitingRequests } from "./waiting-requests.ts";

type Context = ControllerContext<unknown>;

/** Requests looked at at once: those of nodes that join together share calls to the cloud. */
const LOOKUPS = 100;

/** Between tries of a write that the API server refuses. */
const BACKOFF = { initialMs: 1000, maxMs: 300_000 } as const;

/** What is said of requests that are not approved: twenty at once, and one every three seconds. */
const VOICE = { burst: 20, perSecond: 1 / 3 } as const;

/** kubelet-serving-csr-approver. */
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
 * Approves kubelets' requests for serving certificates when the requester is the node, and each name and address asked for is one
 * that the cloud says the node's machine has. Never denies: what it is not sure of is left to others.
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
        for (const key of waiting.curable()) queue.add(key);
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
  const gathering = { requests, nodes: cluster.nodes.lister, instances, providers, waiting, clock };
  const events = cluster.events.recorder(EVENT_SOURCES.kubeletServing);
  const applying = { kube: cluster.client, events, metrics, waiting, voice: new TokenBucket(VOICE, clock) };
  return stepReconciler(
    {
      gather: (context) => gather(gathering, context),
      plan,
      apply: (planned, context) => apply(planned, applying, context),
    },
    clock,
  );
}
