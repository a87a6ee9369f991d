import { codeNames } from "@cloudwire/proto/codes";
import {
  type ErrorClass,
  type ErrorReason,
  type ReasonRule,
  errorDomain,
  errorReasons,
} from "@cloudwire/proto/reasons";
import { type BackoffOptions, backoffMs } from "../../util/backoff.ts";

/** Name of a gRPC code other than OK. */
export type ProviderErrorCode = Exclude<(typeof codeNames)[number], "OK">;

/**
 * What the caller does after an error. Letters are those of the specification's table.
 * OUTCOME_UNKNOWN (U): something may have changed; ask again with the same key. TRANSIENT (T): nothing changed; back off.
 * WAIT (W): wait `retryAfterMs`. FINAL (F): will not succeed until the object or the provider changes.
 * OPERATOR (O): somebody must act; slow retries. RESYNC (R): send or read the whole data, then retry at once, one time.
 */
export type ProviderErrorClass = ErrorClass;

/** One field of a request that the provider refused. */
export interface FieldViolation {
  /** Path in proto field syntax: `spec.ports[2].protocol`. */
  readonly field: string;
  readonly description: string;
}

/** One quota that is used up. */
export interface QuotaViolation {
  /** What the quota is counted on: `project:1234`. */
  readonly subject: string;
  readonly description: string;
}

export interface ProviderErrorFields {
  readonly message: string;
  readonly code: ProviderErrorCode;
  /** "" when the status came without ErrorInfo. */
  readonly reason?: string;
  /** "" when the status came without ErrorInfo. */
  readonly domain?: string;
  readonly retryAfterMs?: number | undefined;
  readonly fieldViolations?: readonly FieldViolation[];
  readonly quotaViolations?: readonly QuotaViolation[];
  readonly metadata?: Readonly<Record<string, string>>;
  readonly requestId?: string;
  readonly cloudRequestIds?: readonly string[];
  readonly isClientThrottled?: boolean;
  readonly isReportedElsewhere?: boolean;
}

/** A call to a provider failed, or one item of a batch did. Every rejection of a provider client is one of these. */
export class ProviderError extends Error {
  readonly code: ProviderErrorCode;
  /** A reason of the contract, or of the vendor (see `domain`); "" when the transport itself failed. */
  readonly reason: string;
  /** `cloudprovider.v1`, the vendor's DNS name, or "" when the transport itself failed. */
  readonly domain: string;
  readonly class: ProviderErrorClass;
  /** Least time to wait before the next try, when the provider named one. */
  readonly retryAfterMs: number | undefined;
  readonly fieldViolations: readonly FieldViolation[];
  readonly quotaViolations: readonly QuotaViolation[];
  /** Facts that are also in the message. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Id of the call, the same in the provider's log. "" when no call was made. */
  readonly requestId: string;
  /** The cloud's own ids of the requests behind the failure. */
  readonly cloudRequestIds: readonly string[];
  /** True: the call was not sent; our own budget of calls let others go first. Nothing has failed. */
  readonly isClientThrottled: boolean;
  /** True: the connection or the budget says it, once for all calls. */
  readonly isReportedElsewhere: boolean;

  constructor(fields: ProviderErrorFields, options?: ErrorOptions) {
    super(fields.message, options);
    this.name = "ProviderError";
    this.code = fields.code;
    this.reason = fields.reason ?? "";
    this.domain = fields.domain ?? "";
    this.class = classify(this.code, this.domain, this.reason);
    this.retryAfterMs = fields.retryAfterMs;
    this.fieldViolations = fields.fieldViolations ?? [];
    this.quotaViolations = fields.quotaViolations ?? [];
    this.metadata = fields.metadata ?? {};
    this.requestId = fields.requestId ?? "";
    this.cloudRequestIds = fields.cloudRequestIds ?? [];
    this.isClientThrottled = fields.isClientThrottled ?? false;
    this.isReportedElsewhere = fields.isReportedElsewhere ?? this.isClientThrottled;
  }

  /** True: no provider said this; the connection, a library or our own deadline did. */
  get fromTransport(): boolean {
    return this.domain === "";
  }
}

/** An error with a reason of the contract; its code follows from the reason. */
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

/** Name of a numeric code; a number that is none counts as UNKNOWN, as gRPC has it. */
export function codeName(code: number): ProviderErrorCode {
  const name = codeNames[code];
  return name === undefined || name === "OK" ? "UNKNOWN" : name;
}

/** True when `error` is a {@link ProviderError}, of that code if one is given. */
export function isProviderError(error: unknown, code?: ProviderErrorCode): error is ProviderError {
  return error instanceof ProviderError && (code === undefined || error.code === code);
}

/** True when `error` carries that reason of the contract. */
export function hasReason(error: unknown, reason: ErrorReason): error is ProviderError {
  return error instanceof ProviderError && error.domain === errorDomain && error.reason === reason;
}

/** True when the caller's duty after `error` is the one of that class. */
export function isOfClass(error: unknown, errorClass: ProviderErrorClass): error is ProviderError {
  return error instanceof ProviderError && error.class === errorClass;
}

/** `error` as a ProviderError: one passes through, anything else becomes UNKNOWN from the transport. */
export function asProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ProviderError({ code: "UNKNOWN", message }, { cause: error });
}

const RULES: ReadonlyMap<string, ReasonRule> = new Map(Object.entries(errorReasons));

/**
 * Class of a reason nobody here knows, a vendor's or a newer contract's, by its code alone: the class that most reasons of
 * the code have, and of several the one that waits longer.
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
  FAILED_PRECONDITION: "TRANSIENT",
  ABORTED: "TRANSIENT",
  OUT_OF_RANGE: "RESYNC",
  UNIMPLEMENTED: "FINAL",
  INTERNAL: "OUTCOME_UNKNOWN",
  UNAVAILABLE: "TRANSIENT",
  DATA_LOSS: "RESYNC",
  UNAUTHENTICATED: "OPERATOR",
};

/** A status without ErrorInfo was not made by a provider: nobody knows what happened, but for two codes (proto/README.md 5). */
function classify(code: ProviderErrorCode, domain: string, reason: string): ProviderErrorClass {
  if (domain === "")
    return code === "UNAVAILABLE" || code === "UNIMPLEMENTED" ? CLASS_OF_CODE[code] : "OUTCOME_UNKNOWN";
  const rule = domain === errorDomain ? RULES.get(reason) : undefined;
  return rule?.class ?? CLASS_OF_CODE[code];
}

/** Waits of proto/README.md section 5, by class. No jitter: what failed together shares a batch when it is tried again. */
const OUTCOME_UNKNOWN: BackoffOptions = { initialMs: 1000, maxMs: 300_000 };
const OPERATOR: BackoffOptions = { initialMs: 60_000, maxMs: 300_000 };
const QUOTA: BackoffOptions = { initialMs: 60_000, maxMs: 900_000 };
const FINAL_MS = 1_800_000;

/** Wait after a WAIT error that does not say how long, which the contract does not allow. */
export const DEFAULT_HOLD_MS = 5000;

/**
 * How long to wait before the next try after `error`, the `failures`-th in a row; undefined: the queue's own back-off. A change of
 * the object or a new process of the provider ends any wait: that is the caller's to see to, and what FINAL really waits for.
 */
export function retryDelayMs(error: ProviderError, failures: number): number | undefined {
  const delayMs = delayOfClass(error, failures);
  const { retryAfterMs } = error;
  return retryAfterMs === undefined ? delayMs : Math.max(retryAfterMs, delayMs ?? 0);
}

function delayOfClass(error: ProviderError, failures: number): number | undefined {
  switch (error.class) {
    case "OUTCOME_UNKNOWN":
      return grown(OUTCOME_UNKNOWN, failures);
    case "TRANSIENT":
      return undefined;
    case "WAIT":
      return error.retryAfterMs ?? DEFAULT_HOLD_MS;
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

/** The domain of reasons of our own. */
const DOMAIN = "cloudwire.dev";

/** A reason of the contract: what it says of machines of one cloud is as true of machines of several. Told in events. */
const AMBIGUOUS_NAME: ErrorReason = "AMBIGUOUS_NAME";

/** Several providers could own the Node: nobody gets it until an operator has said which. */
export function ambiguousNodeOwnerError(nodeName: string, why: string, providers: readonly string[]): ProviderError {
  return contractError(AMBIGUOUS_NAME, `node ${nodeName} could be of ${listed(providers)}: ${why}`);
}

/** Several providers could own the load balancer: nobody gets it until an operator has said which. */
export function ambiguousServiceOwnerError(why: string, providers: readonly string[]): ProviderError {
  const message = `${why} (${listed(providers)}): none of them gets it until only one does`;
  // The code of things that belong to somebody else, class O.
  return ownError("ALREADY_EXISTS", "LOAD_BALANCER_CLASS_CONFLICT", message);
}

/**
 * The machine may be in one more cloud that cannot tell now. A provider ID can never be taken back, so nobody gets the Node yet. Class
 * U: tried again after 1 s to 5 min, and as soon as a provider becomes usable.
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
