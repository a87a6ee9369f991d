import { isIP } from "node:net";
import { LOAD_BALANCER_REMEDIES, type LoadBalancerReadyReason } from "../../api/load-balancer-condition.ts";
import type { Service } from "../../api/service.ts";
import { isApiError } from "../../kube/errors.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import {
  ProviderError,
  type ProviderErrorClass,
  hasReason,
  isOfClass,
  retryDelayMs,
} from "../../provider/model/errors.ts";
import { classReason, failureReason } from "../../provider/model/failure-reason.ts";
import { type ReconcileContext, type Result, type Why, requeueAfter } from "../../runtime/reconciler.ts";
import { type BackoffOptions, backoffMs } from "../../util/backoff.ts";
import type { Random } from "../../util/clock.ts";
import { RetryAfterError, causesOf, messageOf } from "../../util/errors.ts";
import { hinted } from "../../util/text.ts";
import { syncLoadBalancerFailed } from "./events.ts";
import type { Readiness } from "./plan/status.ts";

/** Retry interval while the provider is busy with the load balancer. */
const BUSY_MS = 2000;

/** After so many busy responses, about 30 s, the failure is reported, with backoff as upstream has for every error. */
const BUSY_TRIES = 15;
const BUSY_BACKOFF: BackoffOptions = { initialMs: 5000, maxMs: 300_000 };

/** Random share of a retry delay. */
const RETRY_JITTER = 0.2;

/** Failures of one kind are retried with growing delays. */
export function failureKind(error: unknown): string {
  const fromProvider = providerErrorOf(error);
  return isBusy(fromProvider) ? "busy" : (fromProvider?.class ?? "");
}

export function isBusyTooLong(error: unknown, inARow: number): boolean {
  return isBusy(providerErrorOf(error)) && inARow > BUSY_TRIES;
}

/**
 * Records the event and decides on the retry: by throwing, or by a requeue.
 * @param deps `inARow`: consecutive failures of this {@link failureKind}, this one included
 */
export function settleFailure(
  error: unknown,
  service: Service | undefined,
  { events, random, inARow }: { readonly events: EventRecorder; readonly random: Random; readonly inARow: number },
  context: ReconcileContext,
): Result {
  if (context.signal.aborted) throw error;
  const fromProvider = providerErrorOf(error);
  const isStill = isBusyTooLong(error, inARow);
  if (isBusy(fromProvider) && !isStill) {
    context.log.debug(2, "Provider is busy with load balancer", { err: error });
    const why = { reason: "busy", message: describe(error) };
    return requeueAfter(Math.max(fromProvider?.retryAfterMs ?? 0, BUSY_MS * (0.9 + 0.2 * random())), why);
  }
  if (service !== undefined && (isStill || (!isReported(error) && !isQuiet(error, context)))) {
    events.record(syncLoadBalancerFailed(service, failureText(error)));
  }
  const delayMs = fromProvider && jittered(fromProvider, waitMs(fromProvider, inARow), random);
  throw delayMs === undefined ? error : new RetryAfterError(describe(error), delayMs, { cause: error });
}

/** Services that failed together are not all retried together. A delay that the provider requested is kept. */
function jittered({ retryAfterMs }: ProviderError, delayMs: number | undefined, random: Random): number | undefined {
  return delayMs === undefined || retryAfterMs !== undefined
    ? delayMs
    : delayMs * (1 + RETRY_JITTER * (random() - 0.5));
}

/** undefined: the backoff of the queue. */
function waitMs(error: ProviderError, inARow: number): number | undefined {
  if (!isBusy(error)) return retryDelayMs(error, inARow);
  return Math.max(
    error.retryAfterMs ?? 0,
    backoffMs(BUSY_BACKOFF, inARow - BUSY_TRIES, () => 0),
  );
}

function isReported(error: unknown): boolean {
  return error instanceof LoadBalancerSyncError && error.isReported;
}

export interface SyncErrorOptions extends ErrorOptions {
  readonly isReported?: boolean;
  /** Does not concern the present load balancer, nor the condition. */
  readonly isAside?: boolean;
  /** @default by the cause */
  readonly reason?: LoadBalancerReadyReason;
  /** For the condition: `retrying in 1 minute`. */
  readonly nextTry?: string;
}

/** The cause has the retry delay that the provider requested. */
export class LoadBalancerSyncError extends Error {
  readonly code = "LOAD_BALANCER_SYNC";
  /** An event was recorded already. */
  readonly isReported: boolean;
  readonly isAside: boolean;
  readonly reason: LoadBalancerReadyReason | undefined;
  readonly nextTry: string;

  constructor(
    message: string,
    { isReported = false, isAside = false, reason, nextTry, ...options }: SyncErrorOptions = {},
  ) {
    super(message, options);
    this.name = "LoadBalancerSyncError";
    this.isReported = isReported;
    this.isAside = isAside;
    this.reason = reason;
    this.nextTry = nextTry ?? "retrying in 5 seconds to 5 minutes";
  }

  /** For explain. */
  get why(): Why | undefined {
    return this.reason === undefined ? undefined : { reason: this.reason, message: this.message };
  }
}

/** One line for events. The message of a provider error is complete; its gRPC cause adds nothing. */
export function describe(error: unknown): string {
  if (error instanceof ProviderError) return withoutOtherOwner(error);
  return error instanceof LoadBalancerSyncError ? error.message : messageOf(error);
}

/** The message of a conflict may name the load balancer or the Service of another tenant. The log has it. */
function withoutOtherOwner(error: ProviderError): string {
  const conflict = conflictOf(error);
  if (conflict === undefined) return error.message;
  const [prefix = ""] = error.message.split(`${error.reason}:`, 1);
  return `${prefix === error.message ? "" : prefix}${error.reason}: ${conflict}`;
}

function conflictOf(error: ProviderError): string | undefined {
  if (hasReason(error, "ADDRESS_IN_USE")) {
    const { address = "" } = error.metadata;
    return isIP(address) === 0 ? "the requested address is in use" : `address ${address} is in use`;
  }
  return hasReason(error, "NAME_TAKEN") ? "another object in the cloud has the name of the load balancer" : undefined;
}

/**
 * What ends the failure of a Service before its retry is due. `resource`: another Service releases an address, a name or quota.
 * `cloud`: another call shows that the cloud responds again.
 */
export type WaitsFor = "resource" | "cloud";

/** Reasons of the contract. */
const RESOURCE_REASONS: ReadonlySet<string> = new Set([
  "ADDRESS_IN_USE",
  "CIDR_CONFLICT",
  "DEPENDENCY_IN_USE",
  "NAME_TAKEN",
  "QUOTA_EXCEEDED",
]);

/** Codes of a cloud or provider that does not respond. Other temporary failures, such as NOT_READY, are about one load balancer. */
const CLOUD_CODES: ReadonlySet<string> = new Set(["UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"]);

/** undefined: nothing that another Service can end. */
export function waitsFor(error: unknown): WaitsFor | undefined {
  const cause = providerErrorOf(error);
  if (cause === undefined || cause.isClientThrottled) return undefined;
  if (RESOURCE_REASONS.has(cause.reason)) return "resource";
  const isOfCloud = cause.fromTransport || CLOUD_CODES.has(cause.code);
  const isTemporary = isOfClass(cause, "TRANSIENT") || isOfClass(cause, "OUTCOME_UNKNOWN");
  return isOfCloud && isTemporary ? "cloud" : undefined;
}

function providerErrorOf(error: unknown): ProviderError | undefined {
  return causesOf(error).find((cause) => cause instanceof ProviderError);
}

/** Another change of the load balancer is in progress, or a newer spec was applied already. */
function isBusy(error: ProviderError | undefined): boolean {
  return hasReason(error, "OPERATION_IN_PROGRESS") || hasReason(error, "STALE_GENERATION");
}

/** The call was not sent yet, to stay within the rate limit. */
export function isRateLimited(error: unknown): boolean {
  return providerErrorOf(error)?.isClientThrottled === true;
}

/** No event: shutdown, a busy provider, a rate-limited call, or the first failure while a sidecar restarts. */
export function isQuiet(error: unknown, { signal, failures }: ReconcileContext): boolean {
  const fromProvider = providerErrorOf(error);
  const isRestart = fromProvider?.fromTransport === true && fromProvider.code === "UNAVAILABLE" && failures === 0;
  return signal.aborted || isBusy(fromProvider) || isRateLimited(error) || isRestart;
}

/** Of a condition, in characters: as long as an event. */
const MAX_MESSAGE = 1024;

/** Of an event, without upstream's prefix. */
const MAX_EVENT_TEXT = 940;

/** The load balancer may match the spec nevertheless. */
const UNKNOWN: ReadonlySet<LoadBalancerReadyReason> = new Set([
  "CloudUnavailable",
  "OutcomeUnknown",
  "ProviderHandshakeFailed",
  "ProviderNotReady",
  "ProviderUnavailable",
  "SyncFailed",
]);

/** The retry delays of provider/model/errors.ts, of the queue and of this file, in words. */
const NEXT_TRY: Readonly<Record<ProviderErrorClass, string>> = {
  OUTCOME_UNKNOWN: "retrying in 1 second to 5 minutes",
  TRANSIENT: "retrying in 5 seconds to 5 minutes",
  WAIT: "retrying when the provider allows it",
  FINAL: "retrying when the Service or the provider changes, or in 30 minutes",
  OPERATOR: "retrying in 1 to 5 minutes, or when the Service changes",
  RESYNC: "retrying in 1 second to 5 minutes",
};

const API_SERVER_REMEDY = "check that the API server is healthy and grants the controller its permissions";

/** undefined: the failure has no condition. */
export function readinessOfFailure(error: unknown): Readiness | undefined {
  // The API server that rejected the write would reject this one too.
  if (isOfApiServer(error)) return undefined;
  return error instanceof LoadBalancerSyncError && error.isAside ? undefined : readinessOfError(error);
}

/** One line for events: the failure, the next retry and how to fix it. `kubectl describe` shows no conditions. */
export function failureText(error: unknown): string {
  return isOfApiServer(error)
    ? hinted(describe(error), NEXT_TRY.TRANSIENT, API_SERVER_REMEDY, MAX_EVENT_TEXT)
    : readinessOfError(error, MAX_EVENT_TEXT).message;
}

function isOfApiServer(error: unknown): boolean {
  return causesOf(error).some((cause) => isApiError(cause));
}

function readinessOfError(error: unknown, max = MAX_MESSAGE): Readiness {
  const reported = causesOf(error).find(
    (cause) => cause instanceof LoadBalancerSyncError && cause.reason !== undefined,
  );
  if (reported instanceof LoadBalancerSyncError && reported.reason !== undefined) {
    return readiness(reported.reason, describe(error), reported.nextTry, max);
  }
  const fromProvider = providerErrorOf(error);
  if (fromProvider === undefined) return readiness("SyncFailed", describe(error), NEXT_TRY.TRANSIENT, max);
  const isQuota = fromProvider.reason === "QUOTA_EXCEEDED";
  const nextTry = isQuota ? "retrying in 1 to 15 minutes" : NEXT_TRY[fromProvider.class];
  return readiness(reasonOf(fromProvider), describe(error), nextTry, max);
}

function reasonOf(error: ProviderError): LoadBalancerReadyReason {
  const reason = failureReason(error);
  return isReadyReason(reason) ? reason : classReason(error);
}

function isReadyReason(reason: string): reason is LoadBalancerReadyReason {
  return Object.hasOwn(LOAD_BALANCER_REMEDIES, reason);
}

function readiness(reason: LoadBalancerReadyReason, what: string, nextTry: string, max: number): Readiness {
  const message = hinted(what, nextTry, LOAD_BALANCER_REMEDIES[reason], max);
  return { status: UNKNOWN.has(reason) ? "Unknown" : "False", reason, message };
}
