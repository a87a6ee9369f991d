import { ProviderError, type ProviderErrorOptions } from "@cloudwire/provider-sdk";
import { type CallFailure, CloudCallError } from "../client/http.ts";

/**
 * What a failed call of the cloud means in the contract. Nothing here is ever an absence: not found is an answer that is
 * read from a look-up, never from an error.
 */
export function toProviderError(error: unknown): unknown {
  if (!(error instanceof CloudCallError)) return error;
  const { failure, message } = error;
  switch (failure.kind) {
    case "refused":
      return fromRefusal(failure, message, error);
    case "noAnswer":
      return new ProviderError("CLOUD_UNAVAILABLE", message, { cause: error });
    case "aborted":
      return new ProviderError("CLOUD_TIMEOUT", message, { cause: error });
    case "unreadable":
      return failure.status >= 500
        ? new ProviderError("CLOUD_UNAVAILABLE", message, { cause: error })
        : new ProviderError("INCOMPLETE_ANSWER", message, { cause: error });
  }
  return failure satisfies never;
}

/** The cloud's code of a refusal, if the error is one. */
export function refusalCode(error: unknown): string | undefined {
  const cause = error instanceof ProviderError ? error.cause : error;
  return cause instanceof CloudCallError && cause.failure.kind === "refused" ? cause.failure.code : undefined;
}

type Refusal = Extract<CallFailure, { kind: "refused" }>;
type Reason = ConstructorParameters<typeof ProviderError>[0];

/** By the cloud's own word first: 403 is a quota as well as a right. */
const reasonOfCode: Readonly<Record<string, Reason>> = {
  InvalidRequest: "FIELD_INVALID",
  InvalidId: "PROVIDER_ID_MALFORMED",
  PortNotPermitted: "FIELD_INVALID",
  NameInUse: "OPERATION_IN_PROGRESS",
  AddressInUse: "ADDRESS_IN_USE",
  RouteExists: "CIDR_CONFLICT",
  InstanceNotFound: "ROUTE_TARGET_NOT_FOUND",
  LoadBalancerNotFound: "LOAD_BALANCER_NOT_FOUND",
  InvalidState: "NOT_READY",
  ResourceProtected: "DELETION_PROTECTED",
  RevisionMismatch: "OPERATION_IN_PROGRESS",
  QuotaExceeded: "QUOTA_EXCEEDED",
  AddressPoolExhausted: "QUOTA_EXCEEDED",
  EventsExpired: "RESUME_TOKEN_EXPIRED",
};

function fromRefusal({ status, code, retryAfterMs }: Refusal, message: string, cause: CloudCallError): ProviderError {
  const options: ProviderErrorOptions = { cause, retryAfterMs, ...quotaOf(code, message) };
  const reason = reasonOfCode[code];
  if (reason !== undefined) return new ProviderError(reason, message, options);
  if (status === 401) return new ProviderError("CLOUD_CREDENTIALS_INVALID", message, options);
  if (status === 403) return new ProviderError("CLOUD_PERMISSION_DENIED", message, options);
  if (status === 429) return new ProviderError("RATE_LIMITED", message, options);
  if (status >= 500) return new ProviderError("CLOUD_UNAVAILABLE", message, options);
  return new ProviderError("INVARIANT_BROKEN", message, options);
}

function quotaOf(code: string, description: string): Pick<ProviderErrorOptions, "quota"> {
  return code === "QuotaExceeded" ? { quota: { subject: "account", description } } : {};
}
