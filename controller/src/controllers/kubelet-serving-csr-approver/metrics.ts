import type { Counter, Gauge } from "prom-client";
import type { Metrics } from "../../telemetry/metrics.ts";

/** Upstream has no such controller. */
export interface KubeletServingMetrics {
  /** Every look at a pending request: "approved", or why not. */
  readonly decisions: Counter<"decision">;
  readonly notApproved: Gauge<"reason">;
}

export function kubeletServingMetrics(metrics: Metrics): KubeletServingMetrics {
  return {
    decisions: metrics.counter({
      name: "cloudwire_kubelet_serving_csr_decisions_total",
      help: "Looks at pending kubelet-serving CertificateSigningRequests, by what came of them: approved, or why not.",
      labels: ["decision"],
    }),
    notApproved: metrics.gauge({
      name: "cloudwire_kubelet_serving_csrs_not_approved",
      help: "Kubelet-serving CertificateSigningRequests that are pending because they are out of order or, for an hour, because the cloud does not confirm them, by why.",
      labels: ["reason"],
    }),
  };
}
