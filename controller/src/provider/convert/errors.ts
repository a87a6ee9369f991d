import type { ItemError } from "@cloudwire/proto/cloudprovider/v1/error";
import type { Duration } from "@cloudwire/proto/google/protobuf/duration";
import { BadRequest, ErrorInfo, QuotaFailure, RetryInfo } from "@cloudwire/proto/google/rpc/error_details";
import { Status } from "@cloudwire/proto/google/rpc/status";
import { errorDomain } from "@cloudwire/proto/reasons";
import { codeName, ProviderError, type ProviderErrorFields } from "../model/errors.ts";
import { durationMs } from "./scalars.ts";

/** A call that ended with a status other than OK. */
export interface FailedCall {
  /** Provider and method, for the message: `acme BatchGetInstances`. */
  readonly what: string;
  readonly code: number;
  readonly message: string;
  /** Trailer `grpc-status-details-bin`. */
  readonly statusDetails: Uint8Array | undefined;
  readonly requestId: string;
  readonly cause: unknown;
}

/** Without readable details, the error is the transport's. */
export function errorOfCall(call: FailedCall): ProviderError {
  const code = codeName(call.code);
  const details = readDetails(call.statusDetails);
  const message = `${call.what}: ${label(code, details.reason)}: ${call.message}`;
  return new ProviderError({ code, message, requestId: call.requestId, ...details }, { cause: call.cause });
}

/** The error of one item of a successful response. */
export function errorOfItem(item: ItemError, what: string, requestId: string): ProviderError {
  const code = codeName(item.code);
  return new ProviderError({
    code,
    reason: item.reason,
    domain: item.domain === "" ? errorDomain : item.domain,
    message: `${what}: ${label(code, item.reason)}: ${item.message}`,
    retryAfterMs: waitMs(item.retryAfter),
    metadata: item.metadata,
    requestId,
    cloudRequestIds: cloudRequestIds(item.metadata),
  });
}

function label(code: string, reason: string | undefined): string {
  return reason === undefined || reason === "" ? code : reason;
}

type Details = Omit<ProviderErrorFields, "code" | "message" | "requestId">;

function readDetails(bytes: Uint8Array | undefined): Details {
  if (bytes === undefined) return {};
  try {
    return Status.decode(bytes).details.reduce<Details>((read, { typeUrl, value }) => {
      return { ...read, ...readDetail(typeUrl.slice(typeUrl.lastIndexOf("/") + 1), value) };
    }, {});
  } catch {
    // Not a Status: the provider violates the contract.
    return {};
  }
}

function readDetail(typeName: string, value: Uint8Array): Details {
  switch (typeName) {
    case "google.rpc.ErrorInfo": {
      const { reason, domain, metadata } = ErrorInfo.decode(value);
      return { reason, domain, metadata, cloudRequestIds: cloudRequestIds(metadata) };
    }
    case "google.rpc.RetryInfo":
      return { retryAfterMs: waitMs(RetryInfo.decode(value).retryDelay) };
    case "google.rpc.BadRequest":
      return { fieldViolations: BadRequest.decode(value).fieldViolations };
    case "google.rpc.QuotaFailure":
      return { quotaViolations: QuotaFailure.decode(value).violations };
    default:
      return {};
  }
}

/** Upper bound of a provider's retry delay, the same as after final errors. */
const MAX_WAIT_MS = 1_800_000;

/** A delay that is not positive is none: it must not replace our own. */
function waitMs(duration: Duration | undefined): number | undefined {
  const ms = durationMs(duration) ?? 0;
  return ms > 0 ? Math.min(MAX_WAIT_MS, ms) : undefined;
}

/** Key of the cloud's request IDs, separated by commas, in ErrorInfo metadata. */
const CLOUD_REQUEST_IDS = "cloud_request_ids";

function cloudRequestIds(metadata: Readonly<Record<string, string>>): readonly string[] {
  return (metadata[CLOUD_REQUEST_IDS] ?? "").split(",").filter((id) => id !== "");
}
