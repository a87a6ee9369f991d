import { NODE_DELETION_PROTECTION } from "../../../api/annotations.ts";
import { type Absences, isContradicted, isSameWitness } from "./absences.ts";
import { type CircuitBreaker, isOpen, openMessage } from "./circuit-breaker.ts";

/** Confirmation rules: proto/README.md [ABS-9]. */
export interface GuardRules {
  /** Absences that must agree; a conclusive one suffices alone. */
  readonly confirmations: number;
  /** Minimum time from the first to the last absence. */
  readonly spanMs: number;
  /** Newer Nodes are never deleted. A provider may ask for more. */
  readonly minAgeMs: number;
  /** From a conclusive absence to the deletion, so that the circuit breaker counts all absent Nodes before the first is deleted. */
  readonly settleMs: number;
  readonly freezeMs: number;
  /** --node-deletion-protection: no Node is deleted. */
  readonly deletesNothing: boolean;
}

export interface ProviderState {
  readonly name: string;
  readonly scopeId: string;
  readonly bootId: string;
  /** Why its absence reports are ignored. */
  readonly untrustedReason: string | undefined;
  readonly existenceConsistencyDelayMs: number;
  /** Monotonic; the last error that makes the provider untrusted. */
  readonly failedAtMs: number | undefined;
  /** Monotonic; when an instance that it had reported as absent last reappeared. */
  readonly contradictedAtMs: number | undefined;
}

export interface GuardInput {
  readonly absences: Absences | undefined;
  readonly provider: ProviderState;
  readonly circuitBreaker: CircuitBreaker;
  /** The Node has the annotation that protects it from deletion. */
  readonly isProtected: boolean;
  readonly rules: GuardRules;
  readonly createdMs: number;
  readonly nowMs: number;
  readonly monotonicMs: number;
}

/** Why a Node without a present instance is not deleted: label of a metric. */
export type DelayReason =
  | "unconfirmed"
  | "noProviderID"
  | "providerUntrusted"
  | "providerErrors"
  | "tooNew"
  | "confirming"
  | "deletionProtected"
  | "tooManyNodeDeletions";

export interface Delay {
  readonly kind: "delayed";
  readonly reason: DelayReason;
  readonly message: string;
  /** When this reason alone ends; undefined: time does not end it. */
  readonly endsInMs: number | undefined;
}

export type Decision = { readonly kind: "delete" } | Delay;

/** Kubernetes truncates times to seconds. */
const SECOND_MS = 1000;

/** Whether the Node is deleted. Each rule can only delay the deletion. */
export function decide(facts: GuardInput): Decision {
  const { absences, provider } = facts;
  if (absences === undefined || !isSameWitness(absences.witness, { ...provider, provider: provider.name })) {
    return delay("unconfirmed", "no absence counts yet");
  }
  if (isContradicted(absences, provider.contradictedAtMs)) {
    return delay("unconfirmed", `provider ${provider.name} reported another instance as absent that exists`);
  }
  return (
    providerDelay(facts) ??
    ageDelay(facts) ??
    confirmationDelay(absences, facts) ??
    protectionDelay(facts) ??
    circuitBreakerDelay(facts) ?? { kind: "delete" }
  );
}

/** How long the Node is newer than `minAgeMs`; 0: it is not. */
export function tooNewForMs(createdMs: number, minAgeMs: number, nowMs: number): number {
  return Math.max(createdMs + SECOND_MS + minAgeMs - nowMs, 0);
}

function providerDelay({ provider, rules, monotonicMs }: GuardInput): Delay | undefined {
  const { name, untrustedReason, failedAtMs } = provider;
  if (untrustedReason !== undefined) return delay("providerUntrusted", `provider ${name}: ${untrustedReason}`);
  const leftMs = failedAtMs === undefined ? 0 : failedAtMs + rules.freezeMs - monotonicMs;
  if (leftMs <= 0) return undefined;
  const message = `provider ${name} failed, or contradicted itself, less than ${rules.freezeMs / 1000} s ago`;
  return delay("providerErrors", message, leftMs);
}

function ageDelay({ provider, rules, createdMs, nowMs }: GuardInput): Delay | undefined {
  const minAgeMs = Math.max(rules.minAgeMs, provider.existenceConsistencyDelayMs);
  const leftMs = tooNewForMs(createdMs, minAgeMs, nowMs);
  return leftMs === 0 ? undefined : delay("tooNew", `the Node is younger than ${minAgeMs / 1000} s`, leftMs);
}

function confirmationDelay(
  { count, first, last, conclusive }: Absences,
  { rules, monotonicMs }: GuardInput,
): Delay | undefined {
  if (conclusive) {
    const leftMs = first.heardAtMs + rules.settleMs - monotonicMs;
    return leftMs <= 0 ? undefined : delay("confirming", "the instance is terminated; others may be too", leftMs);
  }
  // Both clocks must agree that the time has passed, because either may have been set.
  const spanMs = Math.min(last.observeTimeMs - first.observeTimeMs, last.heardAtMs - first.heardAtMs);
  if (count >= rules.confirmations && spanMs >= rules.spanMs) return undefined;
  const message = `${count} of ${rules.confirmations} absences, over ${Math.floor(spanMs / 1000)} of ${rules.spanMs / 1000} s`;
  const steps = Math.max(rules.confirmations - count, 1);
  return delay("confirming", message, Math.max(rules.spanMs - spanMs, 0) / steps);
}

function protectionDelay({ isProtected, rules }: GuardInput): Delay | undefined {
  if (isProtected) return delay("deletionProtected", `annotation ${NODE_DELETION_PROTECTION} protects it`);
  return rules.deletesNothing ? delay("deletionProtected", "--node-deletion-protection is set") : undefined;
}

function circuitBreakerDelay({ provider, circuitBreaker }: GuardInput): Delay | undefined {
  if (circuitBreaker.exempt || !isOpen(circuitBreaker)) return undefined;
  return delay("tooManyNodeDeletions", openMessage(provider.name, circuitBreaker));
}

function delay(reason: DelayReason, message: string, endsInMs?: number): Delay {
  return { kind: "delayed", reason, message, endsInMs };
}
