/** What a caller can act on. `transient` covers what a later try may cure: 5xx, resets, timeouts. */
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

export interface ApiErrorFields {
  readonly code: ApiErrorCode;
  readonly message: string;
  readonly httpStatus: number;
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
}

/** True when `error` is an {@link ApiError} with that code. */
export function isApiError(error: unknown, code?: ApiErrorCode): error is ApiError {
  return error instanceof ApiError && (code === undefined || error.code === code);
}
