import type { IncomingMessage } from "node:http";
import type { Counter, Histogram } from "prom-client";
import { exponentialBuckets, type Metrics } from "../../telemetry/metrics.ts";
import type { Clock } from "../../util/clock.ts";
import type { Attributes, Identity } from "./reviews.ts";

/** Authentication and authorization of requests. */
export interface Access {
  readonly authenticate: (request: IncomingMessage) => Promise<Identity>;
  /** Rejects when the API server cannot be asked. */
  readonly isAllowed: (attributes: Attributes) => Promise<boolean>;
}

/** `access` with its results counted and timed. */
export function measuredAccess(access: Access, metrics: Metrics, clock: Clock): Access {
  const { authentication, authorization } = accessMetrics(metrics);
  return {
    authenticate: (request) =>
      measured(authentication, clock, access.authenticate(request), ({ kind }) =>
        kind === "user" ? "success" : "failure",
      ),
    isAllowed: (attributes) =>
      measured(authorization, clock, access.isAllowed(attributes), (allowed) => (allowed ? "allowed" : "denied")),
  };
}

async function measured<T>(
  { attempts, seconds }: AccessMetrics,
  clock: Clock,
  work: Promise<T>,
  resultOf: (value: T) => string,
): Promise<T> {
  const startMs = clock.monotonicMs();
  let result = "error";
  try {
    const value = await work;
    result = resultOf(value);
    return value;
  } finally {
    attempts.inc({ result });
    seconds.observe({ result }, (clock.monotonicMs() - startMs) / 1000);
  }
}

interface AccessMetrics {
  readonly attempts: Counter<"result">;
  readonly seconds: Histogram<"result">;
}

/** Names, labels and buckets: apiserver/pkg/endpoints/filters/metrics.go v0.36.3. */
export function accessMetrics(metrics: Metrics): Readonly<Record<"authentication" | "authorization", AccessMetrics>> {
  const labels = ["result"] as const;
  const buckets = exponentialBuckets(0.001, 2, 15);
  return {
    authentication: {
      attempts: metrics.counter({
        name: "authentication_attempts",
        help: "Requests over TLS, by result of authentication. An anonymous client counts as a success.",
        labels,
      }),
      seconds: metrics.histogram({
        name: "authentication_duration_seconds",
        help: "Latency of authentication in seconds.",
        labels,
        buckets,
      }),
    },
    authorization: {
      attempts: metrics.counter({
        name: "authorization_attempts_total",
        help: "Requests over TLS, by result of authorization.",
        labels,
      }),
      seconds: metrics.histogram({
        name: "authorization_duration_seconds",
        help: "Latency of authorization in seconds.",
        labels,
        buckets,
      }),
    },
  };
}
