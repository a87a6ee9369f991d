import { codeNames } from "@cloudwire/proto/codes";
import {
  type ErrorClass,
  type ErrorReason,
  type ReasonRule,
  errorDomain,
  errorReasons,
} from "@cloudwire/proto/reasons";
import { type BackoffOptions, backoffMs } from "../../util/backoff.ts";
import type { FailureReason } from "./failure-reason.ts";

export type ProviderErrorCode = Exclude<(typeof codeNames)[number], "OK">;

/**
 * The caller's reaction to an error; letters of the specification's table. OUTCOME_UNKNOWN (U): something may have changed; retry with the
 * same key. TRANSIENT (T): nothing changed; back off. WAIT (W): wait `retryAfterMs`. FINAL (F): fails until the object or the provider
 * changes. OPERATOR (O): needs an operator; slow retries. RESYNC (R): send or read all data, then retry once immediately.
 */
export type ProviderErrorClass = ErrorClass;

/** A field that the provider rejected. */
export interface FieldViolation {
  /** Path in proto field syntax: `spec.ports[2].protocol`. */
  readonly field: string;
  readonly description: string;
}

export interface QuotaViolation {
  /** Scope of the quota: `project:1234`. */
  readonly subject: string;
  readonly description: string;
}

export type ProviderErrorFields = Pick<ProviderError, "message" | "code"> &
  Partial<Omit<ProviderError, "message" | "code" | "class" | "fromTransport" | keyof Error>>;

/** A failed call to a provider, or a failed item of a batch. */
export class ProviderError extends Error {
  readonly code: ProviderErrorCode;
  /** Reason of the contract or the vendor (see `domain`); "": an error of the transport. */
  readonly reason: string;
  /** `cloudprovider.v1`, the vendor's DNS name, or "" for errors of the transport. */
  readonly domain: string;
  readonly class: ProviderErrorClass;
  /** Minimum delay before a retry: the provider's, which only lengthens ours, or that of our call budget. Always known after throttling. */
  readonly retryAfterMs: number | undefined;
  readonly fieldViolations: readonly FieldViolation[];
  readonly quotaViolations: readonly QuotaViolation[];
  /** Details, also in the message. */
  readonly metadata: Readonly<Record<string, string>>;
  /** ID of the call, also in the provider's log; "": no call was sent. */
  readonly requestId: string;
  /** The cloud's IDs of the failed requests. */
  readonly cloudRequestIds: readonly string[];
  /** The call was not sent because of our call budget: nothing has failed. */
  readonly isClientThrottled: boolean;
  /** The connection or the budget reports it once for all calls. */
  readonly isReportedElsewhere: boolean;
  /** Why the provider is unusable, as its status reports it; undefined: the error is about this call. */
  readonly failureReason: FailureReason | undefined;

  constructor(fields: ProviderErrorFields, options?: ErrorOptions) {
    super(fields.message, options);
    this.name = "ProviderError";
    this.code = fields.code;
    this.reason = fields.reason ?? "";
    this.domain = fields.domain ?? "";
    this.class = classify(this.code, this.domain, this.reason);
    this.retryAfterMs = fields.retryAfterMs ?? (this.class === "WAIT" ? DEFAULT_HOLD_MS : undefined);
    this.fieldViolations = fields.fieldViolations ?? [];
    this.quotaViolations = fields.quotaViolations ?? [];
    this.metadata = fields.metadata ?? {};
    this.requestId = fields.requestId ?? "";
    this.cloudRequestIds = fields.cloudRequestIds ?? [];
    this.isClientThrottled = fields.isClientThrottled ?? false;
    this.failureReason = fields.failureReason;
    this.isReportedElsewhere = fields.isReportedElsewhere ?? this.isClientThrottled;
  }

  /** The error is from the connection, a library or our deadline, not from the provider. */
  get fromTransport(): boolean {
    return this.domain === "";
  }
}

/** An error with a reason of the contract, which determines the code. */
export function contractError(
  reason: ErrorReason,
  message: string,
  fields: Omit<ProviderErrorFields, "message" | "code" | "reason" | "domain"> = {},
): ProviderError {
  return new ProviderError({
    ...fields,
    message,
    reason,
    domain: errorDomain,
    code: codeName(errorReasons[reason].code),
  });
}

/** Name of a numeric code; UNKNOWN for an invalid one, as in gRPC. */
export function codeName(code: number): ProviderErrorCode {
  const name = codeNames[code];
  return name === undefined || name === "OK" ? "UNKNOWN" : name;
}

export function isProviderError(error: unknown, code?: ProviderErrorCode): error is ProviderError {
  return error instanceof ProviderError && (code === undefined || error.code === code);
}

export function hasReason(error: unknown, reason: ErrorReason): error is ProviderError {
  return error instanceof ProviderError && error.domain === errorDomain && error.reason === reason;
}

export function isOfClass(error: unknown, errorClass: ProviderErrorClass): error is ProviderError {
  return error instanceof ProviderError && error.class === errorClass;
}

/** Converts other errors to UNKNOWN from the transport. */
export function asProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ProviderError({ code: "UNKNOWN", message }, { cause: error });
}

const RULES: ReadonlyMap<string, ReasonRule> = new Map(Object.entries(errorReasons));

/**
 * Class of an unknown reason (a vendor's or a newer contract's) by its code: the class of most reasons with that code, or the one that
 * waits longer.
 */
const CLASS_OF_CODE: Readonly<Record<ProviderErrorCode, ProviderErrorClass>> = {
  CANCELLED: "OUTCOME_UNKNOWN",
  UNKNOWN: "OUTCOME_UNKNOWN",
  INVALID_ARGUMENT: "FINAL",
  DEADLINE_EXCEEDED: "OUTCOME_UNKNOWN",
  NOT_FOUND: "RESYNC",
  ALREADY_EXISTS: "OPERATOR",
  PERMISSION_DENIED: "OPERATOR",
  RESOURCE_EXHAUSTED: "WAIT",
  FAILED_PRECONDITION: "OPERATOR",
  ABORTED: "TRANSIENT",
  OUT_OF_RANGE: "RESYNC",
  UNIMPLEMENTED: "FINAL",
  INTERNAL: "OUTCOME_UNKNOWN",
  UNAVAILABLE: "TRANSIENT",
  DATA_LOSS: "RESYNC",
  UNAUTHENTICATED: "OPERATOR",
};

/** A status without ErrorInfo is not from a provider: the outcome is unknown, except for two codes (proto/README.md 5). */
function classify(code: ProviderErrorCode, domain: string, reason: string): ProviderErrorClass {
  if (domain === "")
    return code === "UNAVAILABLE" || code === "UNIMPLEMENTED" ? CLASS_OF_CODE[code] : "OUTCOME_UNKNOWN";
  const rule = domain === errorDomain ? RULES.get(reason) : undefined;
  return rule?.class ?? CLASS_OF_CODE[code];
}

/** Delays of proto/README.md section 5 by class. Without jitter: failures of one batch retry in one batch. */
const OUTCOME_UNKNOWN: BackoffOptions = { initialMs: 1000, maxMs: 300_000 };
const OPERATOR: BackoffOptions = { initialMs: 60_000, maxMs: 300_000 };
const QUOTA: BackoffOptions = { initialMs: 60_000, maxMs: 900_000 };
const WAIT: BackoffOptions = { initialMs: 1000, maxMs: 300_000 };
const FINAL_MS = 1_800_000;

/** Delay after a WAIT error without one, which violates the contract. */
export const DEFAULT_HOLD_MS = 5000;

/**
 * Delay before the retry after the `failures`-th failure in a row; undefined: the queue's back-off, which is at least `retryAfterMs` of the
 * error. The caller ends the delay when the object changes or the provider restarts.
 */
export function retryDelayMs(error: ProviderError, failures: number): number | undefined {
  const { retryAfterMs = 0 } = error;
  if (error.isClientThrottled) return retryAfterMs;
  const delayMs = delayOfClass(error, failures);
  return delayMs === undefined ? undefined : Math.max(retryAfterMs, delayMs);
}

function delayOfClass(error: ProviderError, failures: number): number | undefined {
  switch (error.class) {
    case "OUTCOME_UNKNOWN":
      return grown(OUTCOME_UNKNOWN, failures);
    case "TRANSIENT":
      return undefined;
    case "WAIT":
      return grown(WAIT, failures);
    case "FINAL":
      return FINAL_MS;
    case "OPERATOR":
      return grown(hasReason(error, "QUOTA_EXCEEDED") ? QUOTA : OPERATOR, failures);
    case "RESYNC":
      return failures === 1 ? 0 : grown(OUTCOME_UNKNOWN, failures);
  }
  return error.class satisfies never;
}

function grown(options: BackoffOptions, failures: number): number {
  return backoffMs(options, failures, () => 0);
}

/** Domain of our own reasons. */
const DOMAIN = "cloudwire.dev";

/** A reason of the contract, also for instances of several clouds. */
const AMBIGUOUS_NAME: ErrorReason = "AMBIGUOUS_NAME";

/** Several providers could own the Node: an operator must select one. */
export function ambiguousNodeOwnerError(nodeName: string, cause: string, providers: readonly string[]): ProviderError {
  return contractError(AMBIGUOUS_NAME, `${listed(providers)} could own node ${nodeName}: ${cause}`);
}

/** Several providers could own the load balancer: an operator must remove the conflict. */
export function ambiguousServiceOwnerError(cause: string, providers: readonly string[]): ProviderError {
  const message = `${cause} (${listed(providers)}): the Service has no owner until only one does`;
  // The code of objects with another owner, class O.
  return ownError("ALREADY_EXISTS", "LOAD_BALANCER_CLASS_CONFLICT", message);
}

/**
 * Another cloud that does not know now may have the instance. A provider ID is permanent, so the Node has no owner yet. Class U: retried
 * after 1 s to 5 min, and when a provider becomes usable.
 */
export function unknownOwnerError(message: string, isNews: boolean): ProviderError {
  return ownError("UNKNOWN", isNews ? AMBIGUOUS_NAME : "OWNER_UNKNOWN", message);
}

/** `east and west`, `east, north and west`. */
export function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}

function ownError(code: ProviderErrorCode, reason: string, message: string): ProviderError {
  return new ProviderError({ code, reason, domain: DOMAIN, message });
}
