import type { Metrics } from "../../telemetry/metrics.ts";

export type KubeletServingMetrics = ReturnType<typeof kubeletServingMetrics>;

/** Upstream has no such controller. */
export function kubeletServingMetrics(metrics: Metrics) {
  return {
    decisions: metrics.counter({
      name: "cloudwire_kubelet_serving_csr_decisions_total",
      help: "Evaluations of pending kubelet-serving CertificateSigningRequests, by decision: approved, or the reason against it.",
      labels: ["decision"],
    }),
    notApproved: metrics.gauge({
      name: "cloudwire_kubelet_serving_csrs_not_approved",
      help: "Pending kubelet-serving CertificateSigningRequests that are invalid, or that the cloud has not confirmed for an hour, by reason.",
      labels: ["reason"],
    }),
  } as const;
}
