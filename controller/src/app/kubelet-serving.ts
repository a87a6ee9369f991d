import { EVENT_SOURCES } from "../api/controller-names.ts";
import { kubeletServingCsrApprover } from "../controllers/kubelet-serving-csr-approver/controller.ts";
import { kubeletServingMetrics } from "../controllers/kubelet-serving-csr-approver/metrics.ts";
import type { Controller } from "../runtime/controller.ts";
import type { ControllersDependencies, SharedMetrics } from "./controllers-dependencies.ts";

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
