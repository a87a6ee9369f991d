import type { CallStats } from "@cloudwire/proto/cloudprovider/v1/common";
import { errorDomain } from "@cloudwire/proto/reasons";
import { type FieldRules, withoutSecrets } from "@cloudwire/proto/secrets";
import type { CallJournal } from "../../explain/history/call-journal.ts";
import { currentWork } from "../../observe/work.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { SpanAttributes, SpanStart, Tracing } from "../../telemetry/tracing.ts";
import type { Clock } from "../../util/clock.ts";
import type { RpcCaller, RpcOptions } from "../convert/caller.ts";
import { type Codec, type Rpc, requestMessage, responseMessage } from "../convert/methods.ts";
import { durationMs } from "../convert/scalars.ts";
import type { ProviderMetrics } from "../metrics.ts";
import { type ProviderError, asProviderError } from "../model/errors.ts";
import { type AuditedCall, type ChangeAudit, auditLine } from "./audit.ts";
import { itemFailures, subjectsOf } from "./call-subjects.ts";

export interface InstrumentDeps {
  readonly provider: string;
  readonly metrics: ProviderMetrics;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Verbosity at which each call is a line, and at which its messages are on it. Kubernetes' convention: 4 debug, 6 requests. */
const CALL_LEVEL = 4;
const MESSAGE_LEVEL = 6;

/** Calls as `caller` makes them, each measured and logged. */
export function instrumented(caller: RpcCaller, deps: InstrumentDeps): RpcCaller {
  const { provider, metrics, clock } = deps;
  return {
    async unary<Request, Response>(rpc: Rpc<Request, Response>, request: Request, options: RpcOptions) {
      const startMs = clock.monotonicMs();
      metrics.callsInFlight.inc({ provider });
      try {
        const response = await caller.unary(rpc, request, options);
        noteAnswer(deps, rpc, request, response, { startMs, ...options });
        return response;
      } catch (error) {
        const failure = asProviderError(error);
        noteFailure(deps, rpc, request, failure, { startMs, ...options });
        throw failure;
      } finally {
        metrics.callsInFlight.dec({ provider });
      }
    },
  };
}

interface Noted {
  readonly startMs: number;
  readonly requestId: string;
}

function noteAnswer<Request, Response>(
  { provider, metrics, log, clock }: InstrumentDeps,
  rpc: Rpc<Request, Response>,
  request: Request,
  response: Response,
  { startMs, requestId }: Noted,
): void {
  const method = rpc.name;
  const durationMs = clock.monotonicMs() - startMs;
  metrics.callDurationSeconds.observe({ provider, method, code: "OK", reason: "" }, durationMs / 1000);
  const stats = rpc.stats(response);
  if (stats !== undefined) noteStats(metrics, provider, method, stats);
  log.debug(CALL_LEVEL, "provider call", { method, requestId, durationMs, cloudCalls: stats?.cloudCalls });
  log.debug(MESSAGE_LEVEL, "provider call messages", {
    method,
    requestId,
    request: shownLater(rpc.request, requestMessage(method), request),
    response: shownLater(rpc.response, responseMessage(method), response),
  });
}

function noteFailure<Request, Response>(
  { provider, metrics, log, clock }: InstrumentDeps,
  rpc: Rpc<Request, Response>,
  request: Request,
  failure: ProviderError,
  { startMs, requestId }: Noted,
): void {
  const method = rpc.name;
  const durationMs = clock.monotonicMs() - startMs;
  const { code } = failure;
  metrics.callDurationSeconds.observe({ provider, method, code, reason: reasonLabel(failure) }, durationMs / 1000);
  log.debug(CALL_LEVEL, "provider call failed", { method, requestId, durationMs, code, reason: failure.reason });
  log.debug(MESSAGE_LEVEL, "provider call messages", {
    method,
    requestId,
    request: shownLater(rpc.request, requestMessage(method), request),
    err: failure,
  });
}

function noteStats(metrics: ProviderMetrics, provider: string, method: string, stats: CallStats): void {
  const { cloudCalls, cloudMutations, cloudRetries, throttled, dataAge } = stats;
  // Retries are counted apart; which of them were changes is not told.
  const kinds = { change: cloudMutations, retry: cloudRetries, read: cloudCalls - cloudMutations - cloudRetries };
  for (const [kind, count] of Object.entries(kinds)) {
    if (count > 0) metrics.cloudCallsTotal.inc({ provider, method, kind }, count);
  }
  if (throttled) metrics.cloudThrottledTotal.inc({ provider, method });
  const ageMs = durationMs(dataAge);
  if (ageMs !== undefined) metrics.cloudDataAgeSeconds.observe({ provider, method }, Math.max(0, ageMs) / 1000);
}

/** The contract's reasons are a closed list; a vendor's are not, and would be series without end. */
function reasonLabel({ domain, reason }: ProviderError): string {
  return domain === errorDomain || domain === "" ? reason : "VENDOR";
}

/** Converted only when a line is really written: a request with 15,000 nodes is megabytes of JSON. */
function shownLater<Message>(codec: Codec<Message>, name: string, message: Message): { toJSON(): unknown } {
  return { toJSON: () => withoutSecrets(name, codec.toJSON(message)) };
}

export interface TracedDeps {
  /** Operator's name of the provider. */
  readonly provider: string;
  /** `unix:///path.sock`, `tcp://host:port`. */
  readonly address: string;
  readonly tracing: Tracing;
}

/**
 * Calls as `caller` makes them, each a span below the work that it is made for; the provider continues the trace. A call for nobody, a
 * handshake or a look at the provider's health, is no span: it would be a trace of its own, every few seconds.
 */
export function traced(caller: RpcCaller, deps: TracedDeps): RpcCaller {
  const peer = { ...server(deps.address), "cloudwire.provider": deps.provider };
  return {
    unary<Request, Response>(rpc: Rpc<Request, Response>, request: Request, options: RpcOptions) {
      const start = (): SpanStart => {
        // Names: OpenTelemetry's semantic conventions for gRPC 1.38.
        const method = rpc.path.slice(1);
        const call = { "rpc.system.name": "grpc", "rpc.method": method, "cloudwire.request_id": options.requestId };
        return { name: method, kind: "client", attributes: { ...call, ...peer } };
      };
      return deps.tracing.child(start, async (span) => {
        try {
          const { traceparent = options.traceparent } = span;
          const response = await caller.unary(rpc, request, { ...options, traceparent });
          span.set({ "rpc.response.status_code": "OK", ...cloudCost(rpc.stats(response)) });
          return response;
        } catch (error) {
          const { code, reason } = asProviderError(error);
          span.set({ "rpc.response.status_code": code, "cloudwire.reason": reason === "" ? undefined : reason });
          span.fail(error, code);
          throw error;
        }
      });
    },
  };
}

function server(address: string): SpanAttributes {
  const { hostname, port, pathname } = new URL(address);
  return hostname === ""
    ? { "server.address": pathname, "network.transport": "unix" }
    : { "server.address": hostname, "server.port": Number(port) };
}

function cloudCost(stats: CallStats | undefined): SpanAttributes {
  if (stats === undefined) return {};
  return {
    "cloudwire.cloud_calls": stats.cloudCalls,
    "cloudwire.cloud_mutations": stats.cloudMutations,
    "cloudwire.cloud_retries": stats.cloudRetries,
  };
}

export interface JournalledDeps {
  /** Operator's name of the provider. */
  readonly provider: string;
  readonly journal: CallJournal;
  readonly clock: Clock;
}

/** Calls as `caller` makes them, each remembered for a while for those who ask what was done for an object. */
export function journalled(caller: RpcCaller, { provider, journal, clock }: JournalledDeps): RpcCaller {
  return {
    async unary<Request, Response>(rpc: Rpc<Request, Response>, request: Request, options: RpcOptions) {
      const startMs = clock.nowMs();
      const startedMs = clock.monotonicMs();
      const common = () => ({ startMs, provider, rpc: rpc.name, durationMs: clock.monotonicMs() - startedMs });
      try {
        const response = await caller.unary(rpc, request, options);
        const cloudRequestIds = rpc.stats(response)?.cloudRequestIds ?? [];
        const subjects = subjectsOf(rpc, request);
        const call = { ...common(), code: "OK", reason: "", message: "", cloudRequestIds };
        journal.note(call, subjects, itemFailures(subjects, response));
        return response;
      } catch (error) {
        const failure = asProviderError(error);
        const { code, reason, message, cloudRequestIds } = failure;
        // Whoever asked has gone: nothing was learnt.
        if (!options.signal.aborted) {
          journal.note({ ...common(), code, reason, message, cloudRequestIds }, subjectsOf(rpc, request), undefined);
        }
        throw failure;
      }
    },
  };
}

export interface AuditedDeps {
  /** Operator's name of the provider. */
  readonly provider: string;
  readonly audit: ChangeAudit;
  readonly clock: Clock;
  /** Which fields are secrets. @default the contract says it */
  readonly rules?: FieldRules;
}

/** Calls as `caller` makes them; each that may change something is a line of the audit log when it has ended. */
export function audited(caller: RpcCaller, { provider, audit, clock, rules }: AuditedDeps): RpcCaller {
  return {
    async unary<Request, Response>(rpc: Rpc<Request, Response>, request: Request, options: RpcOptions) {
      if (!rpc.isChange) return caller.unary(rpc, request, options);
      const work = currentWork();
      const startMs = clock.nowMs();
      const startedMs = clock.monotonicMs();
      const note = (outcome: () => AuditedCall["outcome"]): void => {
        const durationMs = clock.monotonicMs() - startedMs;
        const { requestId } = options;
        try {
          const shown = withoutSecrets(requestMessage(rpc.name), rpc.request.toJSON(request), rules);
          const call = { provider, method: rpc.name, requestId, work, startMs, durationMs, request: shown };
          audit.write(auditLine({ ...call, outcome: outcome() }));
        } catch (error) {
          audit.lose(error);
        }
      };
      try {
        const response = await caller.unary(rpc, request, options);
        note(() => ({ response: withoutSecrets(responseMessage(rpc.name), rpc.response.toJSON(response), rules) }));
        return response;
      } catch (error) {
        const failure = asProviderError(error);
        note(() => ({ error: failure }));
        throw failure;
      }
    },
  };
}
