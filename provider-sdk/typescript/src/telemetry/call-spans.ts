import { codeNames } from "@cloudwire/proto/codes";
import type * as Api from "@opentelemetry/api";
import type { ErrorAnswer } from "../server/rpc/error-response.ts";
import type { RpcCall } from "../server/rpc/method.ts";
import { parseTraceparent } from "./trace-context.ts";

/** How a call was answered. */
export type CallAnswer =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "error"; readonly error: ErrorAnswer };

/** Makes a span of each call, below the caller's, within which `work` is done. */
export type CallSpans = (service: string, call: RpcCall, work: () => Promise<CallAnswer>) => Promise<CallAnswer>;

/**
 * Spans by OpenTelemetry's API, where the provider has that package; what becomes of them is for the SDK to say that the provider registered,
 * if it did. undefined: the package is not there.
 */
export const loadCallSpans = async (): Promise<CallSpans | undefined> => {
  const api = await import("@opentelemetry/api").catch(() => undefined);
  return api && callSpans(api);
};

const callSpans =
  (api: typeof Api): CallSpans =>
  async (service, call, work) => {
    const { trace, context, SpanKind, SpanStatusCode } = api;
    // Names: OpenTelemetry's semantic conventions for gRPC 1.38.
    const method = `${service}/${call.method}`;
    const attributes = { "rpc.system.name": "grpc", "rpc.method": method, "cloudwire.request_id": call.requestId };
    const parent = callerContext(api, call.traceparent);
    const tracer = trace.getTracer("@cloudwire/provider-sdk");
    const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
    try {
      const answer = await context.with(trace.setSpan(parent, span), work);
      const code = answer.kind === "error" ? answer.error.code : okCode;
      span.setAttribute("rpc.response.status_code", codeNames[code] ?? String(code));
      if (answer.kind === "error" && serverFaults.has(code)) {
        span.setAttribute("error.type", codeNames[code] ?? String(code));
        span.setStatus({ code: SpanStatusCode.ERROR, message: answer.error.details });
      }
      return answer;
    } finally {
      span.end();
    }
  };

const okCode = 0;

/** The conventions' list for servers: UNKNOWN, DEADLINE_EXCEEDED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS. The rest is the caller's. */
const serverFaults = new Set([2, 4, 12, 13, 14, 15]);

const callerContext = ({ trace, ROOT_CONTEXT }: typeof Api, traceparent: string | undefined): Api.Context => {
  const caller = traceparent === undefined ? undefined : parseTraceparent(traceparent);
  if (caller === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, flags: traceFlags } = caller;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
};
