import type { ErrorClass } from "@cloudwire/proto/reasons";

/**
 * What an error of a provider means for the object: one reason for each situation, in the condition of a Service, in explanations and on
 * the status page. The keys are reasons of the contract that are more exact than their class, and a few of our own (errors.ts).
 */
const BY_REASON = {
  RATE_LIMITED: "Throttled",
  TOO_MANY_CALLS: "Throttled",
  QUOTA_EXCEEDED: "QuotaExceeded",
  OWNED_BY_ANOTHER_CLUSTER: "OwnedByAnotherCluster",
  NAME_TAKEN: "Conflict",
  ADDRESS_IN_USE: "Conflict",
  CIDR_CONFLICT: "CIDRConflict",
  CLOUD_CREDENTIALS_INVALID: "InvalidCredentials",
  CLOUD_PERMISSION_DENIED: "PermissionDenied",
  CLOUD_SETUP_INVALID: "CloudSetupInvalid",
  PEER_REFUSED: "ProviderHandshakeFailed",
  SCOPE_MISMATCH: "ProviderScopeChanged",
  DELETION_PROTECTED: "DeletionProtected",
  DEPENDENCY_IN_USE: "DependencyInUse",
  OPERATION_IN_PROGRESS: "CloudBusy",
  STALE_GENERATION: "CloudBusy",
  NOT_READY: "CloudBusy",
  NOT_RESPONSIBLE: "NotResponsible",
  PORT_PROTOCOL_UNSUPPORTED: "FeatureUnsupported",
  FEATURE_UNSUPPORTED: "FeatureUnsupported",
  CLASS_UNSUPPORTED: "FeatureUnsupported",
  CAPABILITY_ABSENT: "CapabilityNotSupported",
  PROVIDER_ID_MALFORMED: "InvalidProviderID",
  AMBIGUOUS_NAME: "NodeOwnerAmbiguous",
  OWNER_UNKNOWN: "OwnerUnknown",
  LOAD_BALANCER_CLASS_CONFLICT: "LoadBalancerClassConflict",
  CLOUD_UNAVAILABLE: "CloudUnavailable",
  CLOUD_TIMEOUT: "CloudUnavailable",
  ZONE_UNREACHABLE: "CloudUnavailable",
  NOT_YET_CONSISTENT: "OutcomeUnknown",
  INCOMPLETE_ANSWER: "OutcomeUnknown",
} as const;

const BY_CLASS = {
  OUTCOME_UNKNOWN: "OutcomeUnknown",
  TRANSIENT: "ProviderUnavailable",
  WAIT: "Throttled",
  FINAL: "Rejected",
  OPERATOR: "PermissionDenied",
  RESYNC: "OutcomeUnknown",
} as const satisfies Readonly<Record<ErrorClass, string>>;

export type ClassReason = (typeof BY_CLASS)[ErrorClass];
/** The last two are problems of the provider that it reports itself. */
export type FailureReason =
  | (typeof BY_REASON)[keyof typeof BY_REASON]
  | ClassReason
  | "ProviderNotReady"
  | "ProviderStatusUnknown";

interface Failure {
  readonly reason: string;
  readonly class: ErrorClass;
  readonly code: string;
  readonly failureReason?: FailureReason | undefined;
}

/** By the status of the provider if it is unusable, else by the reason of the error, else by its class. */
export function failureReason({ reason, class: errorClass, code, failureReason: known }: Failure): FailureReason {
  if (known !== undefined) return known;
  if (isKnown(reason)) return BY_REASON[reason];
  if (errorClass === "OPERATOR" && code === "FAILED_PRECONDITION") return BY_REASON.CLOUD_SETUP_INVALID;
  return code === "ALREADY_EXISTS" ? "Conflict" : BY_CLASS[errorClass];
}

/** For an object to which the exact reason does not apply. */
export function classReason({ class: errorClass }: Pick<Failure, "class">): ClassReason {
  return BY_CLASS[errorClass];
}

function isKnown(reason: string): reason is keyof typeof BY_REASON {
  return Object.hasOwn(BY_REASON, reason);
}
