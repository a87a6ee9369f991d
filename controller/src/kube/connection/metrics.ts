import type { Metrics } from "../../telemetry/metrics.ts";

export type RestMetrics = ReturnType<typeof restMetrics>;

// Names and buckets: component-base/metrics/prometheus/restclient/metrics.go v0.36.3.
const LATENCY_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60] as const;
const SIZE_BUCKETS = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216] as const;

export function restMetrics(metrics: Metrics) {
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    metrics.histogram({ name, help, labels: ["verb", "host"], buckets });
  const latency = histogram(
    "rest_client_request_duration_seconds",
    "Request latency in seconds. Broken down by verb, and host.",
    LATENCY_BUCKETS,
  );
  const limiter = histogram(
    "rest_client_rate_limiter_duration_seconds",
    "Client side rate limiter latency in seconds. Broken down by verb, and host.",
    LATENCY_BUCKETS,
  );
  const requestSize = histogram(
    "rest_client_request_size_bytes",
    "Request size in bytes. Broken down by verb and host.",
    SIZE_BUCKETS,
  );
  const responseSize = histogram(
    "rest_client_response_size_bytes",
    "Response size in bytes. Broken down by verb and host.",
    SIZE_BUCKETS,
  );
  const requests = metrics.counter({
    name: "rest_client_requests_total",
    help: "Number of HTTP requests, partitioned by status code, method, and host.",
    labels: ["code", "method", "host"],
  });
  const retries = metrics.counter({
    name: "rest_client_request_retries_total",
    help: "Number of request retries, partitioned by status code, verb, and host.",
    labels: ["code", "verb", "host"],
  });
  return {
    /** `code` is the HTTP status; "<error>" without a response. */
    observeRequest: (verb: string, host: string, code: string, seconds: number, requestBytes: number): void => {
      latency.observe({ verb, host }, seconds);
      requestSize.observe({ verb, host }, requestBytes);
      requests.inc({ code, method: verb, host });
    },
    observeResponseSize: (verb: string, host: string, bytes: number): void =>
      responseSize.observe({ verb, host }, bytes),
    observeLimiter: (verb: string, host: string, seconds: number): void => limiter.observe({ verb, host }, seconds),
    observeRetry: (verb: string, host: string, code: string): void => retries.inc({ code, verb, host }),
  };
}
