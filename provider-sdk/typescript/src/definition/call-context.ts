import type { Logger } from "../telemetry/log.ts";
import type { Cluster, Diagnostic, PlannedChange } from "./common.ts";
import type { PendingOptions } from "../results/results.ts";

/** One request to the cloud, reported for cost figures, provider status and the absence guard. */
export interface CloudCall {
  /** HTTP status of the answer. 401, 403 and 5xx forbid absences in this call. */
  readonly status?: number | undefined;
  /** What went wrong, if no answer came or it was an error. Also forbids absences, if it is such an error. */
  readonly error?: unknown;
  /** True: it may have changed something at the cloud. */
  readonly mutation?: boolean | undefined;
  /** True: it repeats an earlier one. */
  readonly retry?: boolean | undefined;
  /** The cloud's own id of the request. */
  readonly requestId?: string | undefined;
  /** Age of the data in the answer, if it came from a cache. */
  readonly dataAgeMs?: number | undefined;
}

/** What {@link CloudFetch} takes beside what `fetch` takes. */
export interface CloudRequestInit extends RequestInit {
  /**
   * True: may be repeated although its method does not say so, for a POST that carries an idempotency key. False: is never repeated.
   * Default: GET, HEAD, OPTIONS, TRACE, PUT and DELETE may be repeated, others not.
   */
  readonly retry?: boolean | undefined;
}

/**
 * `fetch` for requests to the cloud. Any status is an answer, as with `fetch` itself, and whatever it throws is what `fetch` throws.
 *
 * - Aborts with the call's signal.
 * - Counts each request, and reports its outcome as {@link CallContext.recordCloudCall} does.
 * - Repeats a request that met 429, 500, 502, 503, 504 or a failed connection, up to three times, after 0.2 s, 0.4 s and 0.8 s less up to
 *   half of it by chance, or after `Retry-After` if that is longer. Never beyond the call's deadline; never a body that is a stream; and
 *   in the long run no more repetitions than a tenth of the requests, over all calls. See {@link CloudRequestInit.retry}.
 * - Tells the controller of the call budgets that headers `RateLimit-*` and `X-RateLimit-*` show.
 */
export type CloudFetch = (input: Parameters<typeof fetch>[0], init?: CloudRequestInit) => Promise<Response>;

/** What every handler gets beside its subject. */
export interface CallContext {
  /**
   * Aborted at the call's deadline, when the caller gives up, and at the end of a drain. Pass it to every request to
   * the cloud.
   */
  readonly signal: AbortSignal;
  /** Milliseconds left until the deadline; never below 0. */
  readonly remainingMs: () => number;
  /** The RPC, `EnsureLoadBalancer`. */
  readonly method: string;
  /** Id of the call in the logs of both sides. */
  readonly requestId: string;
  /** W3C trace context of the caller, if it sent a well-formed one. */
  readonly traceparent?: string | undefined;
  /** The cluster on whose behalf the call is made; what the provider makes bears its id. */
  readonly cluster: Cluster;
  /** A log whose lines carry method, request id and object. */
  readonly log: Logger;
  /** `fetch` for requests to the cloud, which counts and repeats them: see {@link CloudFetch}. */
  readonly fetch: CloudFetch;
  /** Reports one request to the cloud that was not made with {@link CallContext.fetch}. */
  readonly recordCloudCall: (call: CloudCall) => void;
}

/** Context of a read. */
export interface ReadContext extends CallContext {
  /** How old data may be; 0 asks for a read of the cloud now. */
  readonly maxDataAgeMs: number;
}

/** How far a change is that takes long; see {@link ChangeContext.reportProgress}. */
export interface Progress extends Omit<PendingOptions, "operationId" | "startTime"> {
  /** The provider's id of the object worked on, as soon as it is known. */
  readonly id?: string | undefined;
}

/** Context of a change. */
export interface ChangeContext extends CallContext {
  /** Id of the intended change: the same when the same change is asked for again. Key of audit logs. */
  readonly changeId: string;
  /** True: check everything and report with {@link ChangeContext.addPlannedChange} what would change, but change nothing. */
  readonly validateOnly: boolean;
  /** Why the change is wanted, for audit logs: `service created`, `node added`, `drift`. */
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

/** Context of `check()` and `scope()`, which run in the background and not for a caller. */
export interface BackgroundContext {
  /** Aborted after the time allowed and when the provider closes. */
  readonly signal: AbortSignal;
  /** `fetch` that aborts with `signal` and repeats what failed for a moment: see {@link CloudFetch}. */
  readonly fetch: CloudFetch;
  /** The provider's log. */
  readonly log: Logger;
}
