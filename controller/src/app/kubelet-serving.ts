import { type CertificateSigningRequest, KUBELET_SERVING_SIGNER } from "../api/certificate-signing-request.ts";
import { EVENT_SOURCES } from "../api/controller-names.ts";
import { kubeletServingCsrApprover } from "../controllers/kubelet-serving-csr-approver/controller.ts";
import { kubeletServingMetrics } from "../controllers/kubelet-serving-csr-approver/metrics.ts";
import { createInformer, type InformerDependencies } from "../kube/cache-informer.ts";
import type { ListWatcher } from "../kube/client.ts";
import { CERTIFICATE_SIGNING_REQUESTS } from "../kube/csr-resource.ts";
import type { Informer } from "../kube/informer.ts";
import type { Controller } from "../runtime/controller.ts";
import type { ControllersDependencies, SharedMetrics } from "./controllers-dependencies.ts";

type InformerParts = Omit<InformerDependencies<CertificateSigningRequest>, "resource" | "indexes" | "listBy">;

/** The cache of kubelet-serving requests. */
export function kubeletServingRequests({ client, ...parts }: InformerParts): Informer<CertificateSigningRequest> {
  return createInformer({ ...parts, client: ofServingSigner(client), resource: CERTIFICATE_SIGNING_REQUESTS });
}

/** kubelet-serving-csr-approver from what the process has. */
export function buildKubeletServing(
  { kube, provider, metrics, log, clock }: ControllersDependencies,
  own: SharedMetrics,
): Controller {
  return kubeletServingCsrApprover({
    ...own,
    requests: kube.kubeletServingRequests,
    nodes: kube.nodes,
    instances: provider.instances,
    providers: provider.providers,
    kube: kube.client,
    events: kube.events.recorder(EVENT_SOURCES.kubeletServing),
    clock,
    log,
    metrics: kubeletServingMetrics(metrics),
    onProviderReady: (listener) => provider.onReady(listener),
  });
}

/** Requests of other signers are not even read. */
function ofServingSigner(client: ListWatcher): ListWatcher {
  const fieldSelector = `spec.signerName=${KUBELET_SERVING_SIGNER}`;
  return {
    list: (resource, options) => client.list(resource, { ...options, fieldSelector }),
    watch: (resource, options) => client.watch(resource, { ...options, fieldSelector }),
  };
}
