import { LOAD_BALANCER_REMEDIES, type LoadBalancerReadyReason } from "../../api/load-balancer-condition.ts";
import { isApiError } from "../../kube/errors.ts";
import type { ProviderError, ProviderErrorClass } from "../../provider/model/errors.ts";
import { causesOf } from "../../util/errors.ts";
import { hinted } from "../../util/text.ts";
import { describe, LoadBalancerSyncError, providerErrorOf } from "./errors.ts";
import type { Readiness } from "./plan/status.ts";

/** An event's length; metav1.Condition would take 32,768 characters. */
const MAX_MESSAGE = 1024;

/** The same without the words that upstream's events begin with. */
const MAX_EVENT_TEXT = 940;

/** Reasons of the contract that say more than their class does. */
const BY_REASON: ReadonlyMap<string, LoadBalancerReadyReason> = new Map([
  ["QUOTA_EXCEEDED", "QuotaExceeded"],
  ["ADDRESS_IN_USE", "Conflict"],
  ["NAME_TAKEN", "Conflict"],
  ["OWNED_BY_ANOTHER_CLUSTER", "Conflict"],
  ["DELETION_PROTECTED", "DeletionProtected"],
  ["DEPENDENCY_IN_USE", "CloudBusy"],
  ["NOT_READY", "CloudBusy"],
  ["OPERATION_IN_PROGRESS", "CloudBusy"],
  ["STALE_GENERATION", "CloudBusy"],
]);

const BY_CLASS: Readonly<Record<ProviderErrorClass, LoadBalancerReadyReason>> = {
  OUTCOME_UNKNOWN: "OutcomeUnknown",
  TRANSIENT: "ProviderUnavailable",
  WAIT: "Throttled",
  FINAL: "Refused",
  OPERATOR: "ProviderNotAuthorized",
  RESYNC: "OutcomeUnknown",
};

/** Whether the load balancer is as wished cannot be told: it may be. */
const UNKNOWN: ReadonlySet<LoadBalancerReadyReason> = new Set(["OutcomeUnknown", "ProviderUnavailable", "SyncFailed"]);

/** The waits of provider/retry-delay.ts, of the queue and of failure.ts, in words. */
const NEXT_TRY: Readonly<Record<ProviderErrorClass, string>> = {
  OUTCOME_UNKNOWN: "asked again after 1 second to 5 minutes",
  TRANSIENT: "tried again after 5 seconds to 5 minutes",
  WAIT: "tried again when the provider allows it",
  FINAL: "tried again when the Service or the provider changes, or after 30 minutes",
  OPERATOR: "tried again after 1 to 5 minutes, and when the Service changes",
  RESYNC: "asked again after 1 second to 5 minutes",
};

const API_SERVER_REMEDY = "see that the API server is well and grants the controller its rights";

/** What a failure means for the Service; undefined: nothing that could be written. */
export function readinessOfFailure(error: unknown): Readiness | undefined {
  // The server that did not take the write would not take this one.
  if (isOfApiServer(error)) return undefined;
  return error instanceof LoadBalancerSyncError && error.isAside ? undefined : judged(error);
}

/** What went wrong, when it is tried again and what somebody can do, in one line for events: `kubectl describe` shows no conditions. */
export function failureText(error: unknown): string {
  return isOfApiServer(error)
    ? hinted(describe(error), NEXT_TRY.TRANSIENT, API_SERVER_REMEDY, MAX_EVENT_TEXT)
    : judged(error, MAX_EVENT_TEXT).message;
}

function isOfApiServer(error: unknown): boolean {
  return causesOf(error).some((cause) => isApiError(cause));
}

function judged(error: unknown, max = MAX_MESSAGE): Readiness {
  const told = causesOf(error).find((cause) => cause instanceof LoadBalancerSyncError && cause.reason !== undefined);
  if (told instanceof LoadBalancerSyncError && told.reason !== undefined) {
    return readiness(told.reason, describe(error), told.nextTry, max);
  }
  const fromProvider = providerErrorOf(error);
  if (fromProvider === undefined) return readiness("SyncFailed", describe(error), NEXT_TRY.TRANSIENT, max);
  const isQuota = fromProvider.reason === "QUOTA_EXCEEDED";
  const nextTry = isQuota ? "tried again after 1 to 15 minutes" : NEXT_TRY[fromProvider.class];
  return readiness(reasonOf(fromProvider), describe(error), nextTry, max);
}

function reasonOf({ reason, class: errorClass, code }: ProviderError): LoadBalancerReadyReason {
  if (code === "ALREADY_EXISTS") return "Conflict";
  return BY_REASON.get(reason) ?? BY_CLASS[errorClass];
}

function readiness(reason: LoadBalancerReadyReason, what: string, nextTry: string, max: number): Readiness {
  const message = hinted(what, nextTry, LOAD_BALANCER_REMEDIES[reason], max);
  return { status: UNKNOWN.has(reason) ? "Unknown" : "False", reason, message };
}
