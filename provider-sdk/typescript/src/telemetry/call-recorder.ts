import type {
  CallStats,
  ChangeContext as WireChangeContext,
  Diagnostic as WireDiagnostic,
  PlannedChange as WirePlannedChange,
} from "@cloudwire/proto/cloudprovider/v1/common";
import { toWireDiagnostic, toWirePlannedChange } from "../server/convert/common.ts";
import type { CloudFetcher } from "../cloud/cloud-fetch.ts";
import { isUnanswered, tooManyRequests } from "../cloud/retries.ts";
import type {
  CallContext,
  ChangeContext,
  CloudCall,
  CloudFetch,
  Progress,
  ReadContext,
} from "../definition/call-context.ts";
import type { Cluster } from "../definition/common.ts";
import { classifyError } from "../results/classify.ts";
import { ProviderError } from "../results/errors.ts";
import type { Logger } from "./log.ts";
import type { RpcCall } from "../server/rpc/method.ts";
import { callFields } from "../server/rpc/call-fields.ts";
import { toDuration } from "../util/clock.ts";

/** What one request to the cloud says about the cloud: it answered, or how it failed. */
export type CloudOutcome = { readonly kind: "success" } | { readonly kind: "failure"; readonly error: ProviderError };

/** What a recorder needs. */
export interface RecorderOptions {
  readonly call: RpcCall;
  readonly cluster: Cluster;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly observe: (outcome: CloudOutcome) => void;
  readonly cloud: CloudFetcher;
  /** Called after each request to the cloud. */
  readonly cloudCalled: (call: CloudCall) => void;
  readonly signal?: AbortSignal;
}

/** Codes of errors after which nothing may be called absent: no answer in time, no right, no cloud, no credentials. */
const unreliableCodes = new Set([4, 7, 14, 16]);

/** True for an error after which nothing may be called absent. Contract: ABS-2. */
export const forbidsAbsence = (error: ProviderError): boolean =>
  unreliableCodes.has(error.grpcCode) || error.reason === "RATE_LIMITED";

const maxErrors = 32;
const maxDiagnostics = 32;
const maxPlannedChanges = 1_000;
const maxCloudRequestIds = 5;

/** Gives the handler of one call its context and remembers what the handler reports through it. */
export class CallRecorder {
  readonly #options: RecorderOptions;
  readonly #parent: CallRecorder | undefined;
  #cloudCalls = 0;
  #mutations = 0;
  #retries = 0;
  #throttled = false;
  #dataAgeMs: number | undefined;
  #progress: Progress = {};
  readonly #errors: ProviderError[] = [];
  readonly #cloudRequestIds: string[] = [];
  readonly #diagnostics: WireDiagnostic[] = [];
  readonly #plannedChanges: WirePlannedChange[] = [];

  constructor(options: RecorderOptions, parent?: CallRecorder) {
    this.#options = options;
    this.#parent = parent;
  }

  /** A recorder for one item of many: errors count for the item, costs for the call. */
  fork(signal: AbortSignal = this.signal): CallRecorder {
    return new CallRecorder({ ...this.#options, signal }, this);
  }

  get method(): string {
    return this.#options.call.method;
  }

  get signal(): AbortSignal {
    return this.#options.signal ?? this.#options.call.signal;
  }

  /** The errors that the handler met or answered; the first ones, if there are many. */
  get errors(): readonly ProviderError[] {
    return this.#errors;
  }

  get diagnostics(): WireDiagnostic[] {
    return this.#diagnostics;
  }

  get plannedChanges(): WirePlannedChange[] {
    return this.#plannedChanges;
  }

  /** How far the handler says that it is. */
  get progress(): Progress {
    return this.#progress;
  }

  /** What the call has cost so far; resets the counters. */
  takeStats(): CallStats {
    const { stats } = this;
    this.#cloudCalls = 0;
    this.#mutations = 0;
    this.#retries = 0;
    this.#throttled = false;
    this.#dataAgeMs = undefined;
    this.#cloudRequestIds.length = 0;
    return stats;
  }

  get stats(): CallStats {
    return {
      cloudCalls: this.#cloudCalls,
      cloudMutations: this.#mutations,
      cloudRetries: this.#retries,
      throttled: this.#throttled,
      dataAge: this.#dataAgeMs === undefined ? undefined : toDuration(this.#dataAgeMs),
      cloudRequestIds: this.#cloudRequestIds.slice(-maxCloudRequestIds),
    };
  }

  /** Context of a read. */
  read(maxDataAgeMs: number): ReadContext {
    return { ...this.context(), maxDataAgeMs };
  }

  /** Context of a change. */
  change(change: WireChangeContext | undefined): ChangeContext {
    return {
      ...this.context(),
      changeId: change?.requestId ?? "",
      validateOnly: change?.validateOnly ?? false,
      ...(change?.trigger ? { trigger: change.trigger } : {}),
      addPlannedChange: (planned) => {
        if (this.#plannedChanges.length < maxPlannedChanges) this.#plannedChanges.push(toWirePlannedChange(planned));
      },
      addDiagnostic: (diagnostic) => {
        if (this.#diagnostics.length < maxDiagnostics) this.#diagnostics.push(toWireDiagnostic(diagnostic));
      },
      reportProgress: (progress) => this.progressed(progress),
    };
  }

  /** Lays what is said of the change over what was said before. */
  progressed(progress: Progress): void {
    this.#progress = { ...this.#progress, ...progress };
  }

  /** Context of any call. */
  context(): CallContext {
    const { call, cluster, log, nowMs } = this.#options;
    return {
      signal: this.signal,
      remainingMs: () => Math.max(0, call.deadlineMs - nowMs()),
      method: call.method,
      requestId: call.requestId,
      ...(call.traceparent === undefined ? {} : { traceparent: call.traceparent }),
      cluster,
      log: log.child(callFields(call)),
      fetch: this.#fetch,
      recordCloudCall: (cloudCall) => this.recordCloudCall(cloudCall),
    };
  }

  /** Counts one request to the cloud and draws conclusions from its outcome. */
  recordCloudCall(cloudCall: CloudCall): void {
    this.#count(cloudCall);
    this.#evaluate(cloudCall);
  }

  #evaluate(cloudCall: CloudCall): void {
    // A request that the caller's impatience ended says nothing about the cloud.
    if (this.signal.aborted) return;
    if (!isUnanswered(cloudCall)) {
      this.#options.observe({ kind: "success" });
      return;
    }
    const failed = cloudCall.error ?? { status: cloudCall.status };
    const { error, masked } = classifyError(failed, { mutation: cloudCall.mutation ?? false, correlationId: "" });
    // Whatever it was: the question was not answered.
    this.noteError(masked ? new ProviderError("INCOMPLETE_ANSWER", unanswered, { cause: failed }) : error);
  }

  /** Draws conclusions from an error that the handler met or answered. */
  noteError(error: ProviderError): void {
    if (error.reason === "RATE_LIMITED") this.#throttle();
    if (this.#errors.length < maxErrors) this.#errors.push(error);
    // One that forbids absences must not be lost behind many that do not.
    else if (forbidsAbsence(error)) this.#errors[0] = error;
    this.#options.observe({ kind: "failure", error });
  }

  #throttle(): void {
    this.#throttled = true;
    if (this.#parent) this.#parent.#throttle();
  }

  #count(cloudCall: CloudCall): void {
    this.#cloudCalls += 1;
    if (cloudCall.mutation) this.#mutations += 1;
    if (cloudCall.retry) this.#retries += 1;
    if (cloudCall.dataAgeMs !== undefined) this.#dataAgeMs = Math.max(this.#dataAgeMs ?? 0, cloudCall.dataAgeMs);
    if (cloudCall.requestId !== undefined) this.#cloudRequestIds.push(cloudCall.requestId.slice(0, 128));
    if (this.#parent) this.#parent.#count(cloudCall);
    else this.#options.cloudCalled(cloudCall);
  }

  readonly #fetch: CloudFetch = (input, init) => {
    const { call, cloud, nowMs } = this.#options;
    return cloud.fetch(input, init, {
      signal: this.signal,
      remainingMs: () => call.deadlineMs - nowMs(),
      tried: (cloudCall) => this.#count(cloudCall),
      ended: (tries) => this.#conclude(tries),
    });
  };

  /**
   * A failure that the same request overcame is no news of the cloud. Only a success overcomes it: a 404 after a 503 may come from what
   * stands before the cloud, and must not become an absence.
   */
  #conclude(tries: readonly CloudCall[]): void {
    const last = tries.at(-1);
    const reported = isSuccess(last?.status) ? tries.slice(-1) : tries;
    for (const cloudCall of reported) this.#evaluate(cloudCall);
    if (tries.some(({ status }) => status === tooManyRequests)) this.#throttle();
  }
}

const isSuccess = (status: number | undefined): boolean => status !== undefined && status < 400;
const unanswered = "A request to the cloud met an error that is not known";
