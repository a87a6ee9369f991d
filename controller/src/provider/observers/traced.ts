import type { CallStats } from "@cloudwire/proto/cloudprovider/v1/common";
import type { SpanAttributes, SpanStart, Tracing } from "../../telemetry/tracing.ts";
import { asProviderError } from "../model/errors.ts";
import type { Rpc } from "../convert/methods.ts";
import type { RpcCaller, RpcOptions } from "../connection/transport.ts";

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
