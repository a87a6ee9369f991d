import type { Counter, Gauge, Histogram } from "prom-client";
import { errorDomain } from "@cloudwire/proto/reasons";
import { withoutSecrets } from "@cloudwire/proto/secrets";
import type { Logger } from "../../telemetry/log.ts";
import { type Metrics, exponentialBuckets } from "../../telemetry/metrics.ts";
import { type Codec, requestMessage, responseMessage } from "../convert/methods.ts";
import type { CallStats } from "../model/call-rate.ts";
import type { ProviderError } from "../model/errors.ts";
import type { CallSink } from "./observed-caller.ts";

/** Metrics of calls, created once per process. */
export interface CallMetrics {
  readonly durationSeconds: Histogram<"provider" | "method" | "code" | "reason">;
  readonly inFlight: Gauge<"provider">;
  readonly cloudCallsTotal: Counter<"provider" | "method" | "kind">;
  readonly cloudDataAgeSeconds: Histogram<"provider" | "method">;
  readonly cloudThrottledTotal: Counter<"provider" | "method">;
}

export function callMetrics(metrics: Metrics): CallMetrics {
  return {
    durationSeconds: metrics.histogram({
      name: "cloudwire_provider_call_duration_seconds",
      help: "Latency of calls to a provider in seconds, by gRPC code and contract reason.",
      labels: ["provider", "method", "code", "reason"],
      // 1 ms to 65 s: the contract's longest deadline is 60 s.
      buckets: exponentialBuckets(0.001, 2, 17),
    }),
    inFlight: metrics.gauge({
      name: "cloudwire_provider_calls_in_flight",
      help: "Calls to a provider that are in progress.",
      labels: ["provider"],
    }),
    cloudCallsTotal: metrics.counter({
      name: "cloudwire_cloud_calls_total",
      help: "Requests that a provider sent to its cloud, by kind.",
      labels: ["provider", "method", "kind"],
    }),
    cloudDataAgeSeconds: metrics.histogram({
      name: "cloudwire_cloud_data_age_seconds",
      help: "Age of the oldest cloud data in a response of a provider, in seconds.",
      labels: ["provider", "method"],
      buckets: [0.1, 1, 5, 10, 30, 60, 120, 300, 900],
    }),
    cloudThrottledTotal: metrics.counter({
      name: "cloudwire_cloud_throttled_total",
      help: "Responses of a provider that the cloud throttled during the call.",
      labels: ["provider", "method"],
    }),
  };
}

/** Number of calls and of failed calls by provider since the start. */
export async function callsByProvider(metrics: Metrics): Promise<{
  readonly calls: Readonly<Record<string, number>>;
  readonly failedCalls: Readonly<Record<string, number>>;
}> {
  const name = "cloudwire_provider_call_duration_seconds";
  const [calls, failedCalls] = await Promise.all([
    metrics.sums(name, "provider"),
    metrics.sums(name, "provider", ({ code }) => code !== "OK"),
  ]);
  return { calls, failedCalls };
}

/** Verbosity of lines per call and of their messages. Kubernetes' convention: 4 debug, 6 requests. */
const CALL_LEVEL = 4;
const MESSAGE_LEVEL = 6;

export function measuredCalls(provider: string, metrics: CallMetrics, log: Logger): CallSink {
  return {
    begun: () => metrics.inFlight.inc({ provider }),
    ended: ({ rpc, requestId, request, durationMs, outcome }) => {
      const method = rpc.name;
      const sent = shownLater(rpc.request, requestMessage(method), request);
      metrics.inFlight.dec({ provider });
      if (outcome.kind === "answered") {
        const { response, stats } = outcome;
        metrics.durationSeconds.observe({ provider, method, code: "OK", reason: "" }, durationMs / 1000);
        if (stats !== undefined) observeStats(metrics, provider, method, stats);
        log.debug(CALL_LEVEL, "Called provider", {
          method,
          requestID: requestId,
          durationMs,
          cloudCalls: stats?.cloudCalls,
        });
        const answer = shownLater(rpc.response, responseMessage(method), response);
        log.debug(MESSAGE_LEVEL, "Messages of provider call", {
          method,
          requestID: requestId,
          request: sent,
          response: answer,
        });
      } else {
        const { error: err } = outcome;
        const { code, reason } = err;
        metrics.durationSeconds.observe({ provider, method, code, reason: reasonLabel(err) }, durationMs / 1000);
        log.debug(CALL_LEVEL, "Provider call failed", { method, requestID: requestId, durationMs, code, reason });
        log.debug(MESSAGE_LEVEL, "Messages of provider call", { method, requestID: requestId, request: sent, err });
      }
    },
  };
}

function observeStats(metrics: CallMetrics, provider: string, method: string, stats: CallStats): void {
  const { cloudCalls, cloudMutations, cloudRetries, throttled, dataAgeMs } = stats;
  // Retries are counted separately; they may include changes.
  const kinds = { change: cloudMutations, retry: cloudRetries, read: cloudCalls - cloudMutations - cloudRetries };
  for (const [kind, count] of Object.entries(kinds)) {
    if (count > 0) metrics.cloudCallsTotal.inc({ provider, method, kind }, count);
  }
  if (throttled) metrics.cloudThrottledTotal.inc({ provider, method });
  if (dataAgeMs !== undefined) {
    metrics.cloudDataAgeSeconds.observe({ provider, method }, Math.max(0, dataAgeMs) / 1000);
  }
}

/** The contract's reasons are a closed list; vendors' reasons would create unlimited series. */
function reasonLabel({ domain, reason }: ProviderError): string {
  return domain === errorDomain || domain === "" ? reason : "VENDOR";
}

/** Converted only when the line is written: a request with 15,000 nodes is megabytes of JSON. */
function shownLater<Message>(codec: Codec<Message>, name: string, message: Message): { toJSON(): unknown } {
  return { toJSON: () => withoutSecrets(name, codec.toJSON(message)) };
}
