import { DeadlineError } from "../util/abort.ts";
import { causesOf, messageOf } from "../util/errors.ts";
import { AccessError } from "./connection/access.ts";

/** What a caller can act on. `transient` covers what a later try may cure: 5xx, resets, timeouts, undecodable answers. */
export type ApiErrorCode =
  | "conflict"
  | "alreadyExists"
  | "notFound"
  | "gone"
  | "invalid"
  | "forbidden"
  | "unauthorized"
  | "tooManyRequests"
  | "unsupportedMedia"
  | "transient"
  | "aborted";

export interface ApiErrorFields {
  readonly code: ApiErrorCode;
  readonly message: string;
  readonly httpStatus: number;
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
}

/** Any failed call to the API server, including those that never got an answer. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  /** HTTP status; 0 when there was no answer. */
  readonly httpStatus: number;
  /** `Status.reason`, such as "Conflict" or "Expired"; "" when the server gave none. */
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

/** True when `error` is an {@link ApiError}, with that code if one is named. */
export function isApiError(error: unknown, code?: ApiErrorCode): error is ApiError {
  return error instanceof ApiError && (code === undefined || error.code === code);
}

/** metav1.Status, as far as it matters. */
export interface ApiStatus {
  readonly message: string;
  readonly reason: string;
  /** 0 when the server left it out. */
  readonly code: number;
  readonly retryAfterSeconds: number;
}

/** The error for an answer other than 2xx. `what` names verb and object: `PATCH nodes/n1`. */
export function errorFromStatus(what: string, httpStatus: number, status: ApiStatus, retryAfter?: string): ApiError {
  const { reason } = status;
  const said = status.message === "" ? reason || "no explanation" : status.message;
  return new ApiError({
    code: codeOf(httpStatus, reason),
    message: `${what}: API server answered ${httpStatus}: ${said}${hintFor(httpStatus)}`,
    httpStatus,
    reason,
    retryAfterMs:
      retryAfterHeaderMs(retryAfter) ?? (status.retryAfterSeconds > 0 ? status.retryAfterSeconds * 1000 : undefined),
  });
}

/** The error for a call that got no (whole) answer: connection refused or reset, deadline, abort, unreadable answer. */
export function errorFromFailure(what: string, cause: unknown, callerAborted: boolean): ApiError | AccessError {
  if (cause instanceof ApiError || cause instanceof AccessError) return cause;
  const none = { httpStatus: 0, reason: "", retryAfterMs: undefined };
  if (callerAborted) return new ApiError({ ...none, code: "aborted", message: `${what}: given up` }, { cause });
  if (cause instanceof DeadlineError)
    return new ApiError({ ...none, code: "transient", message: cause.message }, { cause });
  return new ApiError(
    { ...none, code: "transient", message: `${what}: ${messageOf(cause)}${tlsHint(cause)}` },
    { cause },
  );
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

function codeOf(httpStatus: number, reason: string): ApiErrorCode {
  if (reason === "AlreadyExists") return "alreadyExists";
  // Status objects inside a watch may carry a reason without a fitting code.
  if (reason === "Expired" || reason === "Gone") return "gone";
  const known = BY_STATUS[httpStatus];
  if (known !== undefined) return known;
  return httpStatus >= 400 && httpStatus < 500 && httpStatus !== 408 ? "invalid" : "transient";
}

function hintFor(httpStatus: number): string {
  if (httpStatus === 401) return "; check the token or certificate of the kubeconfig or service account";
  if (httpStatus === 403) return "; grant it in the ClusterRole of this controller";
  return "";
}

/** Codes of node:tls when the server's certificate is not one we trust. */
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

/** Retry-After in seconds or as a date is allowed by HTTP; Kubernetes only sends seconds. */
function retryAfterHeaderMs(header: string | undefined): number | undefined {
  if (header === undefined || !/^\d+$/.test(header)) return undefined;
  return Number(header) * 1000;
}
