import { currentWork, type Work } from "../../observe/work.ts";
import type { SpanAttributes, SpanStart, Tracing } from "../../telemetry/tracing.ts";
import type { Clock } from "../../util/clock.ts";
import type { CallRoute, Rpc, RpcCaller, RpcOptions } from "../convert/methods.ts";
import type { CallStats } from "../model/call-rate.ts";
import { type ProviderError, asProviderError } from "../model/errors.ts";

export interface CallRecord<Request, Response> {
  /** Operator's name of the provider. */
  readonly provider: string;
  readonly rpc: Rpc<Request, Response>;
  readonly requestId: string;
  readonly request: Request;
  /** undefined: not part of a reconcile. */
  readonly work: Work | undefined;
  /** Start, wall clock. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly outcome: CallOutcome<Response>;
}

export type CallOutcome<Response> =
  | { readonly kind: "answered"; readonly response: Response; readonly stats: CallStats | undefined }
  /** `isGivenUp`: canceled by the caller; the provider's response is unknown. */
  | { readonly kind: "failed"; readonly error: ProviderError; readonly isGivenUp: boolean };

/** Receives the calls to one provider. Never throws or waits. */
export interface CallSink {
  begun?(): void;
  ended<Request, Response>(call: CallRecord<Request, Response>): void;
}

export interface ObservedCallerDeps {
  /** Operator's name of the provider. */
  readonly provider: string;
  /** `unix:///path.sock`, `tcp://host:port`. */
  readonly address: string;
  readonly tracing: Tracing;
  readonly clock: Clock;
  /** Called in this order. */
  readonly sinks: readonly CallSink[];
}

/**
 * Calls over `route` that are passed to all sinks, each a span below its work; the provider continues the trace. Calls without work
 * (handshake, status) get no span: it would be a separate trace every few seconds.
 */
export function observed(route: CallRoute, deps: ObservedCallerDeps): RpcCaller {
  const { provider, tracing, clock, sinks } = deps;
  const peer = { ...server(deps.address), "cloudwire.provider": provider };
  const call = async <Request, Response>(
    rpc: Rpc<Request, Response>,
    request: Request,
    options: RpcOptions,
  ): Promise<CallOutcome<Response>> => {
    const work = currentWork();
    const startMs = clock.nowMs();
    const startedMs = clock.monotonicMs();
    for (const sink of sinks) sink.begun?.();
    const outcome = await outcomeOf(route.caller, rpc, request, options);
    const durationMs = clock.monotonicMs() - startedMs;
    const { requestId } = options;
    const record = { provider, rpc, requestId, request, work, startMs, durationMs, outcome };
    for (const sink of sinks) sink.ended(record);
    return outcome;
  };
  return {
    unary: (rpc, request, options) =>
      tracing.child(
        () => spanOf(rpc.path, options.requestId, peer),
        async (span) => {
          const { traceparent = options.traceparent } = span;
          const outcome = await call(rpc, request, { ...options, traceparent });
          if (outcome.kind === "answered") {
            span.set({ "rpc.response.status_code": "OK", ...cloudCost(outcome.stats) });
            return outcome.response;
          }
          const { error } = outcome;
          const reason = error.reason === "" ? undefined : error.reason;
          span.set({ "rpc.response.status_code": error.code, "cloudwire.reason": reason });
          span.fail(error, error.code);
          throw error;
        },
      ),
  };
}

async function outcomeOf<Request, Response>(
  caller: RpcCaller,
  rpc: Rpc<Request, Response>,
  request: Request,
  options: RpcOptions,
): Promise<CallOutcome<Response>> {
  try {
    const response = await caller.unary(rpc, request, options);
    return { kind: "answered", response, stats: rpc.stats(response) };
  } catch (error) {
    return { kind: "failed", error: asProviderError(error), isGivenUp: options.signal.aborted };
  }
}

/** Names: OpenTelemetry's semantic conventions for gRPC 1.38. */
function spanOf(path: string, requestId: string, peer: SpanAttributes): SpanStart {
  const method = path.slice(1);
  const call = { "rpc.system.name": "grpc", "rpc.method": method, "cloudwire.request_id": requestId };
  return { name: method, kind: "client", attributes: { ...call, ...peer } };
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
