import type { Metadata, ServiceError } from "@grpc/grpc-js";
import { BadRequest, ErrorInfo, RetryInfo } from "@cloudwire/proto/google/rpc/error_details";
import { Status } from "@cloudwire/proto/google/rpc/status";
import { fromDuration } from "../util/clock.ts";

/** What a peer can see of an error. */
export interface ErrorOutcome {
  readonly kind: "error";
  readonly code: number;
  readonly message: string;
  readonly reason: string | undefined;
  readonly domain: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly fields: readonly string[];
  readonly retryAfterMs: number | undefined;
  /** Detail types, in their order. */
  readonly details: readonly string[];
  readonly detailsBytes: number;
  readonly trailers: Metadata;
}

/** Takes a failure apart. */
export const toErrorOutcome = (error: ServiceError): ErrorOutcome => {
  const [raw] = error.metadata.get("grpc-status-details-bin");
  const bytes = Buffer.isBuffer(raw) ? raw : Buffer.alloc(0);
  const { details } = Status.decode(bytes);
  const find = (name: string) => details.find(({ typeUrl }) => typeUrl.endsWith(`/google.rpc.${name}`))?.value;
  const info = find("ErrorInfo");
  const errorInfo = info && ErrorInfo.decode(info);
  const badRequest = find("BadRequest");
  const retryInfo = find("RetryInfo");
  return {
    kind: "error",
    code: error.code,
    message: error.details,
    reason: errorInfo?.reason,
    domain: errorInfo?.domain,
    metadata: errorInfo?.metadata ?? {},
    fields: badRequest ? BadRequest.decode(badRequest).fieldViolations.map(({ field }) => field) : [],
    retryAfterMs: retryInfo && fromDuration(RetryInfo.decode(retryInfo).retryDelay, undefined),
    details: details.map(({ typeUrl }) => typeUrl.replace("type.googleapis.com/google.rpc.", "")),
    detailsBytes: bytes.length,
    trailers: error.metadata,
  };
};
