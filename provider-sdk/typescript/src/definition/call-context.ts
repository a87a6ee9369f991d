import type { Logger } from "../log/logger.ts";
import type { Cluster, Diagnostic, PlannedChange } from "./common.ts";

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
  readonly cluster: Cluster;
  /** A log whose lines carry method, request id and object. */
  readonly log: Logger;
  /**
   * `fetch` for requests to the cloud: aborts with `signal`, counts the request and reports its outcome as
   * {@link CallContext.recordCloudCall} does. Any status is an answer, as with `fetch` itself.
   */
  readonly fetch: typeof fetch;
  /** Reports one request to the cloud that was not made with {@link CallContext.fetch}. */
  readonly recordCloudCall: (call: CloudCall) => void;
}

/** Context of a read. */
export interface ReadContext extends CallContext {
  /** How old data may be; 0 asks for a read of the cloud now. */
  readonly maxDataAgeMs: number;
}

/** Context of a change. */
export interface ChangeContext extends CallContext {
  /** Id of the intended change: the same when the same change is asked for again. Key of audit logs. */
  readonly changeId: string;
  /** True: check everything and report with {@link ChangeContext.plan} what would change, but change nothing. */
  readonly validateOnly: boolean;
  /** Why the change is wanted, for audit logs: `service created`, `node added`, `drift`. */
  readonly trigger?: string | undefined;
  /** Reports one change that `validateOnly` left undone. */
  readonly plan: (change: PlannedChange) => void;
  /** Tells the user of the object something although the call succeeds. At most 32 a call are kept. */
  readonly diagnose: (diagnostic: Diagnostic) => void;
}

/** Context of `check()` and `scope()`, which run in the background and not for a caller. */
export interface BackgroundContext {
  /** Aborted after the time allowed and when the provider closes. */
  readonly signal: AbortSignal;
  /** `fetch` that aborts with `signal`. */
  readonly fetch: typeof fetch;
  readonly log: Logger;
}
