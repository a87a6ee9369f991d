import { EVENT_SOURCES } from "../api/controller-names.ts";
import { kubeletServingCsrApprover } from "../controllers/kubelet-serving-csr-approver/controller.ts";
import { kubeletServingMetrics } from "../controllers/kubelet-serving-csr-approver/metrics.ts";
import type { BuildController } from "../runtime/supervised-controller.ts";
import type { ControllersDependencies, SharedMetrics } from "./controllers-dependencies.ts";

/** kubelet-serving-csr-approver from what the process has. */
export function prepareKubeletServing(
  { kube, provider, metrics, log, clock, tracing }: ControllersDependencies,
  own: SharedMetrics,
): BuildController {
  const shared = { ...own, metrics: kubeletServingMetrics(metrics) };
  return () =>
    kubeletServingCsrApprover({
      ...shared,
      requests: kube.kubeletServingRequests,
      nodes: kube.nodes,
      instances: provider.instances,
      providers: provider.providers,
      kube: kube.client,
      events: kube.events.recorder(EVENT_SOURCES.kubeletServing),
      clock,
      log,
      tracing,
      onProviderReady: (listener) => provider.onReady(listener),
    });
}
