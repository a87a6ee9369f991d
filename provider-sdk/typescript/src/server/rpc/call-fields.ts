import { exportedTraceId } from "../../telemetry/trace-context.ts";
import type { RpcCall } from "./method.ts";

/** Fields of each log line of a call. */
export const callFields = ({
  method,
  requestId: requestID,
  traceparent,
}: Pick<RpcCall, "method" | "requestId" | "traceparent">): Readonly<Record<string, string>> => {
  const traceID = exportedTraceId(traceparent);
  return traceID === undefined ? { method, requestID } : { method, requestID, traceID };
};
