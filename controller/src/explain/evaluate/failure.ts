import type { ErrorRecord, ErrorSource } from "../../runtime/history.ts";
import type { LastReconcile } from "./evaluation.ts";
import { cause, type KnownCause, type Reason } from "../reasons/reasons.ts";

type ProviderSource = Extract<ErrorSource, { kind: "provider" }>;

/** Reasons more exact than their class: of the contract, and some of provider/model/errors.ts. */
const BY_REASON: ReadonlyMap<string, Reason> = new Map([
  ["RATE_LIMITED", "Throttled"],
  ["TOO_MANY_CALLS", "Throttled"],
  ["QUOTA_EXCEEDED", "QuotaExceeded"],
  ["OWNED_BY_ANOTHER_CLUSTER", "OwnedByAnotherCluster"],
  ["NAME_TAKEN", "Conflict"],
  ["ADDRESS_IN_USE", "Conflict"],
  ["CIDR_CONFLICT", "CIDRConflict"],
  ["CLOUD_CREDENTIALS_INVALID", "InvalidCredentials"],
  ["CLOUD_PERMISSION_DENIED", "PermissionDenied"],
  ["PEER_REFUSED", "ProviderHandshakeFailed"],
  ["SCOPE_MISMATCH", "ProviderScopeChanged"],
  ["DELETION_PROTECTED", "DeletionProtected"],
  ["DEPENDENCY_IN_USE", "DependencyInUse"],
  ["OPERATION_IN_PROGRESS", "CloudBusy"],
  ["STALE_GENERATION", "CloudBusy"],
  ["NOT_READY", "CloudBusy"],
  ["NOT_RESPONSIBLE", "NotResponsible"],
  ["PORT_PROTOCOL_UNSUPPORTED", "FeatureUnsupported"],
  ["FEATURE_UNSUPPORTED", "FeatureUnsupported"],
  ["CLASS_UNSUPPORTED", "FeatureUnsupported"],
  ["CAPABILITY_ABSENT", "CapabilityNotSupported"],
  ["PROVIDER_ID_MALFORMED", "InvalidProviderID"],
  ["AMBIGUOUS_NAME", "NodeOwnerAmbiguous"],
  ["OWNER_UNKNOWN", "OwnerUnknown"],
  ["LOAD_BALANCER_CLASS_CONFLICT", "LoadBalancerClassConflict"],
  ["CLOUD_UNAVAILABLE", "CloudUnavailable"],
  ["CLOUD_TIMEOUT", "CloudUnavailable"],
  ["ZONE_UNREACHABLE", "CloudUnavailable"],
  ["NOT_YET_CONSISTENT", "OutcomeUnknown"],
  ["INCOMPLETE_ANSWER", "OutcomeUnknown"],
]);

const BY_CLASS: Readonly<Record<ProviderSource["class"], Reason>> = {
  OUTCOME_UNKNOWN: "OutcomeUnknown",
  TRANSIENT: "ProviderUnavailable",
  WAIT: "Throttled",
  FINAL: "Rejected",
  OPERATOR: "PermissionDenied",
  RESYNC: "OutcomeUnknown",
};

/** undefined: the reconcile did not fail, or waits for a reason that the caller knows. */
export function evaluateFailure(last: LastReconcile | undefined): KnownCause | undefined {
  if (last === undefined) return undefined;
  const { outcome, error } = last;
  if (outcome === "planned") return cause("ObserveMode");
  if (error === undefined) return undefined;
  return outcome === "panic" ? cause("InternalError", error.message) : failureCause(error);
}

/** Drops a failure that only repeats that the provider is unavailable. */
export function unlessEcho(failure: KnownCause | undefined, troubles: readonly KnownCause[]): KnownCause | undefined {
  return failure?.reason === "ProviderUnavailable" && troubles.length > 0 ? undefined : failure;
}

function failureCause({ from, message }: ErrorRecord): KnownCause {
  if (from === undefined) return cause("SyncFailed", message);
  return from.kind === "apiServer" ? cause("APIServerError", message) : cause(reasonOfProvider(from), message);
}

function reasonOfProvider({ reason, class: errorClass, isClientThrottled, code }: ProviderSource): Reason {
  if (isClientThrottled) return "ClientThrottled";
  return BY_REASON.get(reason) ?? (code === "ALREADY_EXISTS" ? "Conflict" : BY_CLASS[errorClass]);
}
