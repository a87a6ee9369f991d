import { ProviderError, contractError } from "../model/errors.ts";
import type { ProviderInfo } from "../model/info.ts";
import { type ProviderStatus, notReadyMessage } from "../model/status.ts";
import type { Refusal, RefusalReason } from "./handshake.ts";

/** Where a connection is in its life. It always goes back to "ready" by itself once the cause is gone. */
export type ConnectionState =
  /** No answer yet, and nothing known to be wrong. */
  | { readonly kind: "connecting" }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "ready"; readonly info: ProviderInfo }
  /** Was ready a moment ago; the provider is probably being restarted. */
  | { readonly kind: "lost"; readonly info: ProviderInfo; readonly why: string };

/** What readyz shows of one provider. */
export interface ProviderHealth {
  /** Calls can be made. The cloud behind may still be down: see `reasons`. */
  readonly ready: boolean;
  readonly reasons: readonly HealthReason[];
}

/** A label of metrics: never renamed. */
export type HealthReasonName =
  | RefusalReason
  | "Connecting"
  | "ConnectionLost"
  | "ScopeChanged"
  | "CloudNotReady"
  | "StatusUnknown";

export interface HealthReason {
  readonly name: HealthReasonName;
  /** What is wrong, where, and what to do; one line. */
  readonly message: string;
}

/** proto/README.md INF-8. */
const NO_SCOPE = "the provider has not reached its cloud yet";

/** Failed status calls in a row before they count. */
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

/** Why a provider's "absent" is not to be believed now; undefined: no reason known. */
export function untrustedReason(
  { reasons }: ProviderHealth,
  status: ProviderStatus | undefined,
  bootId: string | undefined,
  nowMs: number,
): string | undefined {
  const [reason] = reasons;
  if (reason !== undefined) return reason.message;
  if (status === undefined || status.bootId !== bootId) return "it has not said yet whether it is ready";
  const { credentialsExpireTimeMs } = status;
  return credentialsExpireTimeMs !== undefined && credentialsExpireTimeMs <= nowMs
    ? "its credentials have expired"
    : undefined;
}

/** The error of a call that is not sent because there is nobody to take it. */
export function notConnectedError(provider: string, state: ConnectionState): ProviderError {
  const why = state.kind === "ready" ? "" : `: ${reasonOf(state).message}`;
  const message = `provider ${provider} is not connected${why}`;
  return new ProviderError({ code: "UNAVAILABLE", message, isReportedElsewhere: true });
}

/** The error of calls that are not sent because the provider cannot know yet in which scope they would act; undefined: it does. */
export function startingError(
  provider: string,
  info: ProviderInfo,
  status: ProviderStatus | undefined,
): ProviderError | undefined {
  const why = cloudProblem({ kind: "ready", info }, status) ?? NO_SCOPE;
  if (info.scopeId !== "") return undefined;
  return contractError("PROVIDER_STARTING", `provider ${provider}: ${why}`, { isReportedElsewhere: true });
}

export function scopeMessage({ confirmed, current, remedy }: ScopeChange): string {
  return `the provider now works in scope "${current}" and worked in "${confirmed}" before; nothing is changed or deleted until its credentials are put right, or, if the new scope is meant, until ${remedy}`;
}

function cloudProblem(state: ConnectionState, status: ProviderStatus | undefined): string | undefined {
  const why = status === undefined || status.ready ? undefined : notReadyMessage(status);
  if (state.kind !== "ready" || state.info.scopeId !== "") return why;
  return why === undefined ? NO_SCOPE : `${NO_SCOPE}: ${why}`;
}

function reasonOf(state: Exclude<ConnectionState, { kind: "ready" }>): HealthReason {
  switch (state.kind) {
    case "connecting":
      return { name: "Connecting", message: "no answer to the handshake yet" };
    case "refused":
      return { name: state.refusal.reason, message: state.refusal.message };
    case "lost":
      return { name: "ConnectionLost", message: state.why };
  }
  return state satisfies never;
}

/** A provider that was confirmed to work in one account, project or region, and now says it works in another. */
export interface ScopeChange {
  readonly confirmed: string;
  readonly current: string;
  /** What an operator does if the current one is meant. */
  readonly remedy: string;
}

/** How an operator accepts another scope. */
export type ScopeRemedy = (current: string) => string;

/**
 * Remembers in which scope a provider may change things: the one that is written down, else the first one seen. Whoever writes it
 * down outlives this process; without, another process begins anew.
 */
export class ScopeGuard {
  readonly #remedy: ScopeRemedy;
  #confirmed: string | undefined;
  #current: string | undefined;
  #written: string | undefined;

  constructor(remedy: ScopeRemedy) {
    this.#remedy = remedy;
  }

  /** What is to be written down; undefined: nothing known yet. */
  get confirmed(): string | undefined {
    return this.#confirmed;
  }

  /** Present while the scope is not trusted: nothing may be changed, and no absence be believed. */
  get change(): ScopeChange | undefined {
    const confirmed = this.#confirmed;
    const current = this.#current;
    if (confirmed === undefined || current === undefined || confirmed === current) return undefined;
    return { confirmed, current, remedy: this.#remedy(current) };
  }

  /** An empty scope says nothing: the provider has not reached its cloud yet. */
  see(scopeId: string): void {
    if (scopeId === "") return;
    this.#confirmed ??= scopeId;
    this.#current = scopeId;
  }

  /**
   * What is written down, each time it is read; "" is nothing. It counts more than what this process saw first: that may be a process
   * with the wrong credentials. Taken away by an operator, it accepts whatever is.
   */
  recall(written: string): void {
    if (written === (this.#written ?? "")) return;
    this.#written = written === "" ? undefined : written;
    this.#confirmed = this.#written ?? this.#current;
  }
}
