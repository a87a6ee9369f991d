import type { Metrics } from "../../telemetry/metrics.ts";

/** Why a call was denied, after its retries. */
export type DeniedReason = "unauthorized" | "forbidden";

export type RestMetrics = ReturnType<typeof restMetrics>;

// Names and buckets: component-base/metrics/prometheus/restclient/metrics.go v0.36.3.
const LATENCY_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60] as const;
const SIZE_BUCKETS = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216] as const;

export function restMetrics(metrics: Metrics) {
  const timed = { labels: ["verb", "host"], buckets: LATENCY_BUCKETS } as const;
  const sized = { labels: ["verb", "host"], buckets: SIZE_BUCKETS } as const;
  const latency = metrics.histogram({
    name: "rest_client_request_duration_seconds",
    help: "Request latency in seconds. Broken down by verb, and host.",
    ...timed,
  });
  const limiter = metrics.histogram({
    name: "rest_client_rate_limiter_duration_seconds",
    help: "Client side rate limiter latency in seconds. Broken down by verb, and host.",
    ...timed,
  });
  const requestSize = metrics.histogram({
    name: "rest_client_request_size_bytes",
    help: "Request size in bytes. Broken down by verb and host.",
    ...sized,
  });
  const responseSize = metrics.histogram({
    name: "rest_client_response_size_bytes",
    help: "Response size in bytes. Broken down by verb and host.",
    ...sized,
  });
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
  const denied = metrics.counter({
    name: "cloudwire_apiserver_denied_calls_total",
    help: "Calls that the API server denied, by reason. A renewal of credentials that succeeds and creates in a terminating namespace are not counted.",
    labels: ["reason", "method"],
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
    observeDenied: (method: string, reason: DeniedReason): void => denied.inc({ reason, method }),
    observeRetry: (verb: string, host: string, code: string): void => retries.inc({ code, verb, host }),
  };
}
