import type { Counter, Gauge, Histogram } from "prom-client";
import type { Metrics } from "../../telemetry/metrics.ts";

/** Names and buckets: cloud-provider/app/webhook_metrics.go v0.36.3, which counts only failures. The gauge is ours. */
export interface WebhookMetrics {
  readonly requests: Counter<"code" | "webhook">;
  readonly latencySeconds: Histogram<"code" | "webhook">;
  readonly certificateExpirySeconds: Gauge;
}

export function webhookMetrics(metrics: Metrics): WebhookMetrics {
  return {
    requests: metrics.counter({
      name: "cloud_provider_webhook_request_total",
      help: "Requests to webhooks, by HTTP status code and webhook.",
      labels: ["code", "webhook"],
    }),
    latencySeconds: metrics.histogram({
      name: "cloud_provider_webhook_request_duration_seconds",
      help: "Latency of webhook requests in seconds, by HTTP status code and webhook.",
      labels: ["code", "webhook"],
      buckets: [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10],
    }),
    certificateExpirySeconds: metrics.gauge({
      name: "cloudwire_webhook_certificate_expiration_timestamp_seconds",
      help: "Unix time when the serving certificate of the webhooks expires.",
    }),
  };
}
