import { ProviderError } from "./errors.ts";
import { parseRetryAfter } from "../cloud/retries.ts";

/** What {@link classifyError} makes of an error. */
export interface ClassifiedError {
  readonly error: ProviderError;
  /** True: nothing was known about it, so that the peer must not see its text. */
  readonly masked: boolean;
}

/** What the error happened in. */
export interface FailedCall {
  /** True: the call may have changed something, so that a timeout leaves its outcome open. */
  readonly mutation: boolean;
  /** Names the log entry to people who only see the masked message. */
  readonly correlationId: string;
}

/**
 * Turns whatever a handler threw into an error of the contract. Known: ProviderError, aborts and timeouts, Node's system
 * errors, and anything with an HTTP status (`status`, `statusCode` or AWS' `$metadata.httpStatusCode`). All else is masked.
 */
export const classifyError = (thrown: unknown, call: FailedCall): ClassifiedError => {
  const known = findKnown(thrown, call);
  if (known) return { error: known, masked: false };
  const message = `The provider failed in a way it did not expect; its log has the details under ${call.correlationId}`;
  return { error: new ProviderError("UNMAPPED_ERROR", message, { cause: explained(thrown) }), masked: true };
};

/** The most frequent mistake in a new provider, explained in the log. */
const explained = (thrown: unknown): unknown =>
  httpStatus(thrown) === 404 ? new Error(thrown404, { cause: thrown }) : thrown;

const thrown404 =
  "an HTTP 404 that is thrown says nothing, for a wrong URL answers the same; where the cloud says that there is no such object, answer absent() to a look-up and nothing to a deletion";

/** An error may hide what happened in its cause, as `fetch` does; deeper than this is not looked. */
const maxCauses = 5;

const findKnown = (thrown: unknown, call: FailedCall): ProviderError | undefined => {
  let current = thrown;
  for (let depth = 0; depth <= maxCauses && current !== undefined && current !== null; depth++) {
    const known = mapOne(current, call);
    if (known) return known;
    current = property(current, "cause");
  }
  return undefined;
};

const mapOne = (error: unknown, call: FailedCall): ProviderError | undefined => {
  if (error instanceof ProviderError) return error;
  const name = property(error, "name");
  if (name === "AbortError" || name === "TimeoutError") return timeout(error, call);
  const status = httpStatus(error);
  if (status !== undefined) return fromHttpStatus(status, error, call);
  const code = property(error, "code");
  return typeof code === "string" ? fromSystemCode(code, error, call) : undefined;
};

const timeout = (cause: unknown, call: FailedCall): ProviderError =>
  call.mutation
    ? new ProviderError("DEADLINE_PASSED", "The cloud did not answer in time; the change may still be under way", {
        cause,
      })
    : new ProviderError("CLOUD_TIMEOUT", "The cloud did not answer in time", { cause });

const httpStatus = (error: unknown): number | undefined => {
  const candidates = [
    property(error, "status"),
    property(error, "statusCode"),
    property(property(error, "$metadata"), "httpStatusCode"),
    property(property(error, "response"), "status"),
  ];
  return candidates.find(isErrorStatus);
};

const isErrorStatus = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 400 && value <= 599;

const fromHttpStatus = (status: number, cause: unknown, call: FailedCall): ProviderError | undefined => {
  const retryAfterMs = retryAfter(cause);
  const said = `The cloud answered HTTP ${status}`;
  if (status === 401)
    return new ProviderError("CLOUD_CREDENTIALS_INVALID", `${said}: it refuses the provider's credentials`, { cause });
  if (status === 403)
    return new ProviderError("CLOUD_PERMISSION_DENIED", `${said}: the provider's identity lacks a right`, { cause });
  if (status === 408 || status === 504) return timeout(cause, call);
  if (status === 409 && call.mutation)
    return new ProviderError("NOT_READY", `${said}: the object takes no change now`, { cause });
  if (status === 429) return new ProviderError("RATE_LIMITED", `${said}: it throttles`, { cause, retryAfterMs });
  if (status >= 500) return new ProviderError("CLOUD_UNAVAILABLE", said, { cause, retryAfterMs });
  // 404 and the rest say nothing about the object: a wrong URL or a missing right answer the same.
  return undefined;
};

const retryAfter = (error: unknown): number | undefined =>
  parseRetryAfter(
    headerValue(property(error, "headers")) ?? headerValue(property(property(error, "response"), "headers")),
    Date.now(),
  );

const headerValue = (headers: unknown): string | undefined => {
  if (headers instanceof Headers) return headers.get("retry-after") ?? undefined;
  const value = property(headers, "retry-after") ?? property(headers, "Retry-After");
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
};

const unreachableCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENETDOWN",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
]);

const timeoutCodes = new Set([
  "ETIMEDOUT",
  "ESOCKETTIMEDOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "ABORT_ERR",
]);

const fromSystemCode = (code: string, cause: unknown, call: FailedCall): ProviderError | undefined => {
  if (timeoutCodes.has(code)) return timeout(cause, call);
  if (unreachableCodes.has(code))
    return new ProviderError("CLOUD_UNAVAILABLE", `The cloud cannot be reached (${code})`, { cause });
  return undefined;
};

const property = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
