import type { Logger } from "../telemetry/log.ts";
import type { Cluster, Diagnostic, PlannedChange } from "./common.ts";
import type { PendingOptions } from "../results/results.ts";

/** One request to the cloud, reported for call statistics, provider status and the check of absences. */
export interface CloudCall {
  /** HTTP status of the response. 401, 403 and 5xx make absences in this call invalid. */
  readonly status?: number | undefined;
  /** The error, if there is no response or it is an error. Such an error makes absences in this call invalid too. */
  readonly error?: unknown;
  /** True: it may have changed something in the cloud. */
  readonly mutation?: boolean | undefined;
  /** True: it is a retry. */
  readonly retry?: boolean | undefined;
  /** The cloud's ID of the request. */
  readonly requestId?: string | undefined;
  /** Age of the data in the response, if it came from a cache. */
  readonly dataAgeMs?: number | undefined;
}

/** Options of {@link CloudFetch} in addition to those of `fetch`. */
export interface CloudRequestInit extends RequestInit {
  /**
   * True: may be retried although its method is not idempotent, for a POST with an idempotency key. False: is never retried. Default:
   * GET, HEAD, OPTIONS, TRACE, PUT and DELETE may be retried, others not.
   */
  readonly retry?: boolean | undefined;
}

/**
 * `fetch` for requests to the cloud. Any status is an answer, as with `fetch` itself, and whatever it throws is what `fetch` throws.
 *
 * - Aborts with the call's signal.
 * - Counts each request, and reports its outcome as {@link CallContext.recordCloudCall} does.
 * - Repeats a request that met 429, 500, 502, 503, 504 or a failed connection, up to three times, after 0.2 s, 0.4 s and 0.8 s less up to
 *   half of it by chance, or after `Retry-After` if that is longer. Never beyond the call's deadline; never a body that is a stream.
 *   Over all calls, retries are at most a tenth of the requests in the long run. See {@link CloudRequestInit.retry}.
 * - Reports the call budgets in the headers `RateLimit-*` and `X-RateLimit-*` to the controller.
 */
export type CloudFetch = (input: Parameters<typeof fetch>[0], init?: CloudRequestInit) => Promise<Response>;

/** Context of every handler call. */
export interface CallContext {
  /** Aborted at the call's deadline, when the caller cancels, and at the end of a drain. Pass it to every request to the cloud. */
  readonly signal: AbortSignal;
  /** Milliseconds left until the deadline; at least 0. */
  readonly remainingMs: () => number;
  /** The RPC, `EnsureLoadBalancer`. */
  readonly method: string;
  /** ID of the call in the logs of controller and provider. */
  readonly requestId: string;
  /** W3C trace context of the caller, if valid. */
  readonly traceparent?: string | undefined;
  /** The cluster of the caller. Put its ID into the ownership tags of created objects. */
  readonly cluster: Cluster;
  /** A logger whose lines contain method, request ID and object. */
  readonly log: Logger;
  /** `fetch` for requests to the cloud, with counting and retries: see {@link CloudFetch}. */
  readonly fetch: CloudFetch;
  /** Reports one request to the cloud that was not made with {@link CallContext.fetch}. */
  readonly recordCloudCall: (call: CloudCall) => void;
}

/** Context of a read. */
export interface ReadContext extends CallContext {
  /** Maximum age of the data in milliseconds; 0 forces a read of the cloud. */
  readonly maxDataAgeMs: number;
}

/** Progress of a long change; see {@link ChangeContext.reportProgress}. */
export interface Progress extends Omit<PendingOptions, "operationId" | "startTime"> {
  /** The provider's ID of the object, as soon as it is known. */
  readonly id?: string | undefined;
}

/** Context of a change. */
export interface ChangeContext extends CallContext {
  /** ID of the intended change, constant over retries. Key of audit logs. */
  readonly changeId: string;
  /** True: check everything and report with {@link ChangeContext.addPlannedChange} what would change, but change nothing. */
  readonly validateOnly: boolean;
  /** Trigger of the change, for audit logs: `service created`, `node added`, `drift`. */
  readonly trigger?: string | undefined;
  /** Reports one change that the call would have made without `validateOnly`. */
  readonly addPlannedChange: (change: PlannedChange) => void;
  /** Reports something to the user of the object although the call succeeds. At most 32 per call are kept. */
  readonly addDiagnostic: (diagnostic: Diagnostic) => void;
  /**
   * Reports the progress of the change. The SDK returns it to callers when the change takes longer than `limits.softCallDurationMs`.
   * Later properties replace earlier ones. No effect on routes.
   */
  readonly reportProgress: (progress: Progress) => void;
}

/** Context of `check()` and `scope()`, which run in the background. */
export interface BackgroundContext {
  /** Aborted after the time limit and when the provider closes. */
  readonly signal: AbortSignal;
  /** `fetch` with `signal` and retries: see {@link CloudFetch}. */
  readonly fetch: CloudFetch;
  /** The provider's logger. */
  readonly log: Logger;
}
