import { DeadlineError } from "../util/abort.ts";
import { causesOf, messageOf } from "../util/errors.ts";
import { AccessError } from "./connection/access.ts";

/**
 * `transient`: a retry may succeed (5xx, resets, timeouts, undecodable responses). `namespaceTerminating`: nothing can be created in the
 * namespace any more, which is no lack of permission although the status is 403.
 */
export type ApiErrorCode =
  | "conflict"
  | "alreadyExists"
  | "notFound"
  | "gone"
  | "invalid"
  | "forbidden"
  | "namespaceTerminating"
  | "unauthorized"
  | "tooManyRequests"
  | "unsupportedMedia"
  | "transient"
  | "aborted";

type ApiErrorFields = Pick<ApiError, "code" | "message" | "httpStatus" | "reason" | "retryAfterMs">;

/** A failed call to the API server, with or without a response. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  /** 0: no response. */
  readonly httpStatus: number;
  /** `Status.reason`, for example "Conflict" or "Expired"; "": none. */
  readonly reason: string;
  /** From Retry-After or `Status.details.retryAfterSeconds`. */
  readonly retryAfterMs: number | undefined;

  constructor(fields: ApiErrorFields, options?: ErrorOptions) {
    super(fields.message, options);
    this.name = "ApiError";
    this.code = fields.code;
    this.httpStatus = fields.httpStatus;
    this.reason = fields.reason;
    this.retryAfterMs = fields.retryAfterMs;
  }
}

/** True for an {@link ApiError}, of that code if given. */
export function isApiError(error: unknown, code?: ApiErrorCode): error is ApiError {
  return error instanceof ApiError && (code === undefined || error.code === code);
}

/** The used fields of metav1.Status. */
export interface ApiStatus {
  readonly message: string;
  readonly reason: string;
  /** 0: unset. */
  readonly code: number;
  readonly retryAfterSeconds: number;
  /** Reasons of `details.causes`. */
  readonly causes: readonly string[];
}

/** The error of a response other than 2xx. `what` is verb and object: `PATCH nodes/n1`. */
export function errorFromStatus(what: string, httpStatus: number, status: ApiStatus, retryAfter?: string): ApiError {
  const { reason } = status;
  const code = codeOf(httpStatus, status);
  const explanation = status.message || reason || "no explanation";
  return new ApiError({
    code,
    message: `${what}: API server returned ${httpStatus}: ${explanation}${hintFor(code)}`,
    httpStatus,
    reason,
    retryAfterMs:
      retryAfterHeaderMs(retryAfter) ?? (status.retryAfterSeconds > 0 ? status.retryAfterSeconds * 1000 : undefined),
  });
}

/** The error of a call without a complete response: connection refused or reset, deadline, abort, malformed response. */
export function errorFromFailure(what: string, cause: unknown, callerAborted: boolean): ApiError | AccessError {
  if (cause instanceof ApiError || cause instanceof AccessError) return cause;
  const none = { httpStatus: 0, reason: "", retryAfterMs: undefined };
  if (callerAborted) return new ApiError({ ...none, code: "aborted", message: `${what}: canceled` }, { cause });
  const message = cause instanceof DeadlineError ? cause.message : `${what}: ${messageOf(cause)}${tlsHint(cause)}`;
  return new ApiError({ ...none, code: "transient", message }, { cause });
}

const BY_STATUS: Readonly<Record<number, ApiErrorCode>> = {
  401: "unauthorized",
  403: "forbidden",
  404: "notFound",
  406: "unsupportedMedia",
  409: "conflict",
  410: "gone",
  415: "unsupportedMedia",
  429: "tooManyRequests",
};

/** Cause of the 403 for each create in a namespace that is being deleted (core/v1 NamespaceTerminatingCause). */
const NAMESPACE_TERMINATING = "NamespaceTerminating";

function codeOf(httpStatus: number, { reason, causes }: ApiStatus): ApiErrorCode {
  if (httpStatus === 403 && causes.includes(NAMESPACE_TERMINATING)) return "namespaceTerminating";
  if (reason === "AlreadyExists") return "alreadyExists";
  // A Status in a watch may have a reason without a matching code.
  if (reason === "Expired" || reason === "Gone") return "gone";
  const known = BY_STATUS[httpStatus];
  if (known !== undefined) return known;
  return httpStatus >= 400 && httpStatus < 500 && httpStatus !== 408 ? "invalid" : "transient";
}

function hintFor(code: ApiErrorCode): string {
  if (code === "unauthorized") return "; check the token or certificate of the kubeconfig or service account";
  if (code === "forbidden") return "; grant the permission in the ClusterRole of this controller";
  return "";
}

/** Codes of node:tls for an untrusted server certificate. */
const UNTRUSTED: ReadonlySet<unknown> = new Set([
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

function tlsHint(cause: unknown): string {
  const untrusted = causesOf(cause).some(
    (error) => error instanceof Error && "code" in error && UNTRUSTED.has(error.code),
  );
  return untrusted ? "; check server and certificate-authority in the kubeconfig" : "";
}

/** HTTP also allows a date in Retry-After; Kubernetes only sends seconds. */
function retryAfterHeaderMs(header: string | undefined): number | undefined {
  if (header === undefined || !/^\d+$/.test(header)) return undefined;
  return Number(header) * 1000;
}
