import { type ErrorReason, errorReasons } from "@cloudwire/proto/reasons";

/** Canonical gRPC codes that an error may carry. */
export type ErrorCode = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16;

/** What is wrong with one field of a request. */
export interface FieldViolation {
  /** Path in proto spelling: `spec.ports[2].protocol`, `spec.annotations["acme.example.com/tier"]`. */
  readonly field: string;
  /** What is wrong with it, one sentence. */
  readonly description: string;
}

/** What else is known about an error. */
export interface ProviderErrorOptions {
  /** Path of the field of the request that is to blame; short for `fieldViolations` with the message as description. */
  readonly field?: string | undefined;
  /** Fields of the request that are wrong, as `field` but many. */
  readonly fieldViolations?: readonly FieldViolation[] | undefined;
  /** Least time to wait before the same is tried again. RATE_LIMITED and TOO_MANY_CALLS get 5 s without it. */
  readonly retryAfterMs?: number | undefined;
  /** Facts that also appear in the message, for machines; no secrets. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Where the user can read on. */
  readonly help?: { readonly description: string; readonly url: string } | undefined;
  /** Which quota is used up, with QUOTA_EXCEEDED. */
  readonly quota?: { readonly subject: string; readonly description: string } | undefined;
  /** What stands in the way, with codes of FAILED_PRECONDITION. */
  readonly precondition?: { readonly type: string; readonly subject: string; readonly description: string } | undefined;
  /** The cloud object it is about. */
  readonly resource?: { readonly type: string; readonly name: string; readonly owner?: string | undefined } | undefined;
  /** The error behind it; logged, never sent. */
  readonly cause?: unknown;
}

/** A reason of the vendor's own, for what the contract has no word for. */
export interface VendorReason {
  /** UPPER_SNAKE_CASE. */
  readonly reason: string;
  /** Decides what the controller does. */
  readonly code: ErrorCode;
  /** The vendor's DNS name. */
  readonly domain: string;
}

/**
 * The error that a provider throws, or answers for one item of many. The reason decides the gRPC code and what the
 * controller does; the message is for people: what was tried, on what, what to do. No secrets; at most 1 KiB is sent.
 */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  /** The reason, as it travels: of the contract's closed list or the vendor's own. */
  readonly reason: string;
  /** Who defines the reason; undefined: the contract. */
  readonly domain: string | undefined;
  /** gRPC code that goes with the reason. */
  readonly grpcCode: number;
  /** Fields of the request that are wrong. */
  readonly fieldViolations: readonly FieldViolation[];
  /** How long the caller is to wait. */
  readonly retryAfterMs: number | undefined;
  /** Facts beside the reason. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Where somebody can read on. */
  readonly help: ProviderErrorOptions["help"];
  /** Which quota is used up. */
  readonly quota: ProviderErrorOptions["quota"];
  /** What has to be true first. */
  readonly precondition: ProviderErrorOptions["precondition"];
  /** Which object it is about. */
  readonly resource: ProviderErrorOptions["resource"];

  /** `reason`: one of the contract's, or the vendor's own. `message`: what was tried, on what, what to do; the controller and users see it. */
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
    this.retryAfterMs = options.retryAfterMs ?? described.defaultRetryAfterMs;
    this.metadata = options.metadata ?? {};
    this.help = options.help;
    this.quota = options.quota;
    this.precondition = options.precondition;
    this.resource = options.resource;
  }
}

/** Where the contract demands a wait and the cloud did not tell one. */
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
