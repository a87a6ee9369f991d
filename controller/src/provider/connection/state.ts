import { ProviderError, contractError } from "../model/errors.ts";
import type { ProviderInfo } from "../model/info.ts";
import { type ProviderStatus, notReadyMessage } from "../model/status.ts";
import type { Rejection } from "./handshake.ts";
import { type HealthReasonName, reasonOfHealth } from "./health-reason.ts";

/** State of a connection. It returns to "ready" automatically once the cause is gone. */
export type ConnectionState =
  /** No response yet, and no known problem. */
  | { readonly kind: "connecting" }
  | { readonly kind: "refused"; readonly rejection: Rejection }
  | { readonly kind: "ready"; readonly info: ProviderInfo }
  /** It was ready until now; the provider is probably restarting. */
  | { readonly kind: "lost"; readonly info: ProviderInfo; readonly why: string };

/** The health of one provider for readyz. */
export interface ProviderHealth {
  /** Calls are possible. The cloud may be unreachable: see `reasons`. */
  readonly ready: boolean;
  readonly reasons: readonly HealthReason[];
}

export interface HealthReason {
  readonly name: HealthReasonName;
  /** One line: the problem, where, and how to fix it. */
  readonly message: string;
}

/** proto/README.md INF-8. */
const NO_SCOPE = "the provider has not reached its cloud yet";

/** Failed status calls in a row that count as a problem. */
const STATUS_FAILURES = 3;

export function healthOf(
  state: ConnectionState,
  status: ProviderStatus | undefined,
  statusFailures: number,
  scopeChange: ScopeChange | undefined,
): ProviderHealth {
  const reasons: HealthReason[] = [];
  if (state.kind !== "ready") reasons.push(reasonOf(state));
  if (scopeChange !== undefined) reasons.push({ name: "ScopeChanged", message: scopeMessage(scopeChange) });
  const cloud = cloudProblem(state, status);
  if (cloud !== undefined) reasons.push({ name: "CloudNotReady", message: cloud });
  if (statusFailures >= STATUS_FAILURES) {
    reasons.push({ name: "StatusUnknown", message: `${statusFailures} status calls in a row failed` });
  }
  return { ready: state.kind === "ready", reasons };
}

/** Why a provider's absence reports must be ignored; undefined: they are trusted. */
export function untrustedReason(
  { reasons }: ProviderHealth,
  status: ProviderStatus | undefined,
  bootId: string | undefined,
  nowMs: number,
): string | undefined {
  const [reason] = reasons;
  if (reason !== undefined) return reason.message;
  if (status === undefined || status.bootId !== bootId) return "its status is not known yet";
  const { credentialsExpireTimeMs } = status;
  return credentialsExpireTimeMs !== undefined && credentialsExpireTimeMs <= nowMs
    ? "its credentials have expired"
    : undefined;
}

/** The error of a call without a connection. */
export function notConnectedError(provider: string, state: ConnectionState): ProviderError {
  const problem = state.kind === "ready" ? undefined : reasonOf(state);
  const message = `provider ${provider} is not connected${problem === undefined ? "" : `: ${problem.message}`}`;
  const failureReason = reasonOfHealth(problem?.name ?? "Connecting", undefined);
  return new ProviderError({ code: "UNAVAILABLE", message, failureReason, isReportedElsewhere: true });
}

/** The error of calls before the provider knows its scope; undefined: it does. */
export function startingError(
  provider: string,
  info: ProviderInfo,
  status: ProviderStatus | undefined,
): ProviderError | undefined {
  const why = cloudProblem({ kind: "ready", info }, status) ?? NO_SCOPE;
  if (info.scopeId !== "") return undefined;
  const failureReason = reasonOfHealth("CloudNotReady", status);
  return contractError("PROVIDER_STARTING", `provider ${provider}: ${why}`, {
    failureReason,
    isReportedElsewhere: true,
  });
}

export function scopeMessage({ confirmed, current, remedy }: ScopeChange): string {
  return `the provider now works in scope "${current}" and worked in "${confirmed}" before; nothing is changed or deleted until its credentials are fixed, or, if the new scope is intended, until ${remedy}`;
}

function cloudProblem(state: ConnectionState, status: ProviderStatus | undefined): string | undefined {
  const why = status === undefined || status.ready ? undefined : notReadyMessage(status);
  if (state.kind !== "ready" || state.info.scopeId !== "") return why;
  return why === undefined ? NO_SCOPE : `${NO_SCOPE}: ${why}`;
}

function reasonOf(state: Exclude<ConnectionState, { kind: "ready" }>): HealthReason {
  switch (state.kind) {
    case "connecting":
      return { name: "Connecting", message: "no response to the handshake yet" };
    case "refused":
      return { name: state.rejection.reason, message: state.rejection.message };
    case "lost":
      return { name: "ConnectionLost", message: state.why };
  }
  return state satisfies never;
}

/** A provider that worked in a confirmed account, project or region and now works in another. */
export interface ScopeChange {
  readonly confirmed: string;
  readonly current: string;
  /** How an operator accepts the current scope. */
  readonly remedy: string;
}

/** How an operator accepts another scope. */
export type ScopeRemedy = (current: string) => string;

/** Stores the scope in which a provider may change things: the stored one, else the first one seen. Without storage, a new process starts again. */
export class ScopeGuard {
  readonly #remedy: ScopeRemedy;
  /** To be stored; undefined: unknown. */
  confirmed: string | undefined;
  #current: string | undefined;
  #stored: string | undefined;

  constructor(remedy: ScopeRemedy) {
    this.#remedy = remedy;
  }

  /** Present while changes and absence reports are rejected. */
  get change(): ScopeChange | undefined {
    const { confirmed } = this;
    const current = this.#current;
    if (confirmed === undefined || current === undefined || confirmed === current) return undefined;
    return { confirmed, current, remedy: this.#remedy(current) };
  }

  /** An empty scope is ignored: the provider has not reached its cloud yet. */
  see(scopeId: string): void {
    if (scopeId === "") return;
    this.confirmed ??= scopeId;
    this.#current = scopeId;
  }

  /**
   * The stored scope, each time it is read; "": none. It takes precedence over the scope that this process saw first, which may be due to
   * wrong credentials. If an operator removes it, the current scope is accepted.
   */
  recall(stored: string): void {
    if (stored === (this.#stored ?? "")) return;
    this.#stored = stored === "" ? undefined : stored;
    this.confirmed = this.#stored ?? this.#current;
  }
}
