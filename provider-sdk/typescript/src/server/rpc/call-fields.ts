import { exportedTraceId } from "../../telemetry/trace-context.ts";
import type { RpcCall } from "./method.ts";

/** What a call's log lines carry, whoever writes them. */
export const callFields = ({
  method,
  requestId,
  traceparent,
}: Pick<RpcCall, "method" | "requestId" | "traceparent">): Readonly<Record<string, string>> => {
  const traceId = exportedTraceId(traceparent);
  return traceId === undefined ? { method, requestId } : { method, requestId, traceId };
};
