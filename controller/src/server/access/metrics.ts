import type { IncomingMessage } from "node:http";
import { exponentialBuckets, type Metrics } from "../../telemetry/metrics.ts";
import type { Clock } from "../../util/clock.ts";
import type { Identity } from "./authenticator.ts";
import type { Attributes } from "./reviews.ts";

/** Who may go on to the pages. */
export interface Access {
  readonly authenticate: (request: IncomingMessage) => Promise<Identity>;
  /** Rejects when nobody could be asked. */
  readonly isAllowed: (attributes: Attributes) => Promise<boolean>;
}

/** failure: what was presented proves nothing, or nobody could be asked about it. */
type AuthenticationResult = "success" | "failure";

/** error: nobody could be asked. */
type AuthorizationResult = "allowed" | "denied" | "error";

/** 1 ms to 16.384 s. */
const BUCKETS_SECONDS = exponentialBuckets(0.001, 2, 15);

/** The same, each answer counted and timed. */
export function measuredAccess(access: Access, metrics: Metrics, clock: Clock): Access {
  const measured = accessMetrics(metrics);
  return {
    authenticate: async (request) => {
      const startMs = clock.monotonicMs();
      const identity = await access.authenticate(request);
      measured.authenticated(identity.kind === "user" ? "success" : "failure", clock.monotonicMs() - startMs);
      return identity;
    },
    isAllowed: async (attributes) => {
      const startMs = clock.monotonicMs();
      const end = (result: AuthorizationResult): void => measured.authorized(result, clock.monotonicMs() - startMs);
      try {
        const isAllowed = await access.isAllowed(attributes);
        end(isAllowed ? "allowed" : "denied");
        return isAllowed;
      } catch (error) {
        end("error");
        throw error;
      }
    },
  };
}

interface AccessMetrics {
  authenticated(result: AuthenticationResult, durationMs: number): void;
  authorized(result: AuthorizationResult, durationMs: number): void;
}

/** Names, labels and buckets: apiserver/pkg/endpoints/filters/metrics.go v0.36.3. */
export function accessMetrics(metrics: Metrics): AccessMetrics {
  const labels = ["result"] as const;
  const authentications = metrics.counter({
    name: "authentication_attempts",
    help: "Requests over TLS, by result of authentication. An anonymous client counts as a success.",
    labels,
  });
  const authenticationSeconds = metrics.histogram({
    name: "authentication_duration_seconds",
    help: "Latency of authentication in seconds.",
    labels,
    buckets: BUCKETS_SECONDS,
  });
  const authorizations = metrics.counter({
    name: "authorization_attempts_total",
    help: "Requests over TLS, by result of authorization.",
    labels,
  });
  const authorizationSeconds = metrics.histogram({
    name: "authorization_duration_seconds",
    help: "Latency of authorization in seconds.",
    labels,
    buckets: BUCKETS_SECONDS,
  });
  return {
    authenticated: (result, durationMs) => {
      authentications.inc({ result });
      authenticationSeconds.observe({ result }, durationMs / 1000);
    },
    authorized: (result, durationMs) => {
      authorizations.inc({ result });
      authorizationSeconds.observe({ result }, durationMs / 1000);
    },
  };
}
