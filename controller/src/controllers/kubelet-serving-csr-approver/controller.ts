import type { CertificateSigningRequest } from "../../api/certificate-signing-request.ts";
import { KUBELET_SERVING_CSR_APPROVER } from "../../api/controller-names.ts";
import type { Node } from "../../api/node.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import type { InstanceReader } from "../../provider/lookup/instance-reader.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import { Controller } from "../../runtime/controller.ts";
import type { ControllerMetrics } from "../../runtime/metrics.ts";
import { stepReconciler } from "../../runtime/reconciler.ts";
import { informerSource, type Source } from "../../runtime/source.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Tracing } from "../../telemetry/tracing.ts";
import type { Clock } from "../../util/clock.ts";
import { TokenBucket } from "../../util/token-bucket.ts";
import type { QueueMetrics } from "../../workqueue/metrics.ts";
import { exponentialLimiter } from "../../workqueue/rate-limiter.ts";
import { createWorkqueue } from "../../workqueue/rate-limited-queue.ts";
import { apply } from "./apply.ts";
import { gather } from "./gather.ts";
import type { KubeletServingMetrics } from "./metrics.ts";
import { plan } from "./plan.ts";
import { changesMachine, decides, isPending } from "./predicates.ts";
import { WaitingRequests } from "./waiting-requests.ts";

export interface KubeletServingDependencies {
  /** Requests for signer kubernetes.io/kubelet-serving; others are ignored. */
  readonly requests: Informer<CertificateSigningRequest>;
  readonly nodes: Informer<Node>;
  readonly instances: InstanceReader;
  readonly providers: ProviderSet;
  readonly kube: Pick<KubeClient, "patch">;
  /** Of source EVENT_SOURCES.kubeletServing. */
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: KubeletServingMetrics;
  readonly queueMetrics: QueueMetrics;
  readonly controllerMetrics: ControllerMetrics;
  readonly tracing: Tracing;
  /** Calls back whenever a provider has become usable; answers how to end that. */
  readonly onProviderReady: (listener: () => void) => () => void;
}

/** Requests looked at at once: those of nodes that join together share calls to the cloud. */
const LOOKUPS = 100;

/** Between tries of a write that the API server refuses. */
const BACKOFF = { initialMs: 1000, maxMs: 300_000 } as const;

/** What is said of requests that are not approved: twenty at once, and one every three seconds. */
const VOICE = { burst: 20, perSecond: 1 / 3 } as const;

/**
 * Approves kubelets' requests for serving certificates when the requester is the node, and each name and address asked for is one
 * that the cloud says the node's machine has. Never denies: what it is not sure of is left to others.
 */
export function kubeletServingCsrApprover(deps: KubeletServingDependencies): Controller {
  const { requests, nodes, clock, log, metrics, queueMetrics, controllerMetrics, tracing } = deps;
  const waiting = new WaitingRequests(metrics.notApproved);
  const voice = new TokenBucket(VOICE, clock);
  const gathering = { ...deps, requests: requests.lister, nodes: nodes.lister, waiting };
  const reconciler = stepReconciler(
    {
      gather: (context) => gather(gathering, context),
      plan,
      apply: (planned, context) => apply(planned, { ...deps, waiting, voice }, context),
    },
    clock,
  );
  return new Controller({
    name: KUBELET_SERVING_CSR_APPROVER,
    reconciler,
    sources: [requestSource(deps), nodeSource(deps, waiting), providerReadySource(deps, waiting)],
    queue: createWorkqueue({ clock, limiter: exponentialLimiter(BACKOFF), metrics: queueMetrics }),
    workers: LOOKUPS,
    clock,
    log,
    metrics: controllerMetrics,
    tracing,
  });
}

function requestSource({ requests }: KubeletServingDependencies): Source {
  return informerSource({
    name: "certificatesigningrequests",
    informer: requests,
    predicate: { add: isPending, update: decides, delete: () => true },
  });
}

function nodeSource({ nodes }: KubeletServingDependencies, waiting: WaitingRequests): Source {
  return informerSource({
    name: "nodes",
    informer: nodes,
    predicate: { add: () => true, update: changesMachine, delete: () => false },
    keys: ({ metadata }) => waiting.keysOf(metadata.name),
  });
}

function providerReadySource({ onProviderReady }: KubeletServingDependencies, waiting: WaitingRequests): Source {
  return {
    name: "provider ready",
    ready: () => Promise.resolve(),
    start: (queue) =>
      onProviderReady(() => {
        for (const key of waiting.curable()) queue.add(key);
      }),
  };
}
