import { type ErrorReason, errorReasons } from "@cloudwire/proto/reasons";

/** Canonical gRPC codes that an error may carry. */
export type ErrorCode = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16;

/** One invalid field of a request. */
export interface FieldViolation {
  /** Path in proto spelling: `spec.ports[2].protocol`, `spec.annotations["acme.example.com/tier"]`. */
  readonly field: string;
  /** What is invalid, one sentence. */
  readonly description: string;
}

/** Options of {@link ProviderError}. */
export interface ProviderErrorOptions {
  /** Path of the invalid request field; shorthand for one of `fieldViolations` with the message as its description. */
  readonly field?: string | undefined;
  /** All invalid fields of the request. */
  readonly fieldViolations?: readonly FieldViolation[] | undefined;
  /** Minimum time before a retry. Default for RATE_LIMITED and TOO_MANY_CALLS: 5 s. */
  readonly retryAfterMs?: number | undefined;
  /** Machine-readable facts, which also appear in the message; no secrets. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Description and URL of further documentation. */
  readonly help?: { readonly description: string; readonly url: string } | undefined;
  /** The exhausted quota, with QUOTA_EXCEEDED. */
  readonly quota?: { readonly subject: string; readonly description: string } | undefined;
  /** The violated precondition, with codes of FAILED_PRECONDITION. */
  readonly precondition?: { readonly type: string; readonly subject: string; readonly description: string } | undefined;
  /** The cloud object that the error refers to. */
  readonly resource?: { readonly type: string; readonly name: string; readonly owner?: string | undefined } | undefined;
  /** The underlying error; logged, never sent. */
  readonly cause?: unknown;
}

/** A vendor-specific reason, for cases that the contract does not define. */
export interface VendorReason {
  /** UPPER_SNAKE_CASE. */
  readonly reason: string;
  /** gRPC code; determines what the controller does. */
  readonly code: ErrorCode;
  /** The vendor's DNS name. */
  readonly domain: string;
}

/**
 * The error that a provider throws, or returns for one item of a batch. The reason determines the gRPC code and what the controller does.
 * The message is human-readable: what was tried, on what, what to do. No secrets; at most 1 KiB is sent.
 */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  /** The reason: from the contract's closed list, or vendor-specific. */
  readonly reason: string;
  /** Domain that defines the reason; undefined: the contract. */
  readonly domain: string | undefined;
  /** gRPC code that goes with the reason. */
  readonly grpcCode: number;
  /** Invalid fields of the request. */
  readonly fieldViolations: readonly FieldViolation[];
  /** Minimum time before a retry, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Machine-readable facts. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Description and URL of further documentation. */
  readonly help: ProviderErrorOptions["help"];
  /** The exhausted quota. */
  readonly quota: ProviderErrorOptions["quota"];
  /** The violated precondition. */
  readonly precondition: ProviderErrorOptions["precondition"];
  /** The cloud object that the error refers to. */
  readonly resource: ProviderErrorOptions["resource"];

  /** `reason`: from the contract, or vendor-specific. `message`: what was tried, on what, what to do; the controller and users see it. */
  constructor(reason: ErrorReason | VendorReason, message: string, options: ProviderErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const described = describeReason(reason);
    this.reason = described.reason;
    this.domain = described.domain;
    this.grpcCode = described.code;
    this.fieldViolations = [
      ...(options.field === undefined ? [] : [{ field: options.field, description: message }]),
      ...(options.fieldViolations ?? []),
    ];
    this.retryAfterMs = positive(options.retryAfterMs) ?? described.defaultRetryAfterMs;
    this.metadata = options.metadata ?? {};
    this.help = options.help;
    this.quota = options.quota;
    this.precondition = options.precondition;
    this.resource = options.resource;
  }
}

/** A delay that is not positive is none: all callers would retry at the same time. */
const positive = (delayMs: number | undefined): number | undefined =>
  delayMs !== undefined && delayMs > 0 ? delayMs : undefined;

/** Used if the contract requires RetryInfo and the cloud returned none. */
const defaultRetryAfterMs = 5_000;

const describeReason = (reason: ErrorReason | VendorReason) => {
  if (typeof reason === "object") return { ...reason, defaultRetryAfterMs: undefined };
  const rule = errorReasons[reason];
  const mustWait = "retryInfoRequired" in rule;
  return {
    reason,
    domain: undefined,
    code: rule.code,
    defaultRetryAfterMs: mustWait ? defaultRetryAfterMs : undefined,
  };
};
