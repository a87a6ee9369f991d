import { type Absences, isContradicted, isSameWitness } from "./absences.ts";
import { type CircuitBreaker, openMessage, isOpen } from "./circuit-breaker.ts";

/** How sure is sure. proto/README.md [ABS-9]. */
export interface GuardRules {
  /** Absences that must agree; 1 is enough for a conclusive one. */
  readonly confirmations: number;
  /** From the first to the last of them. */
  readonly spanMs: number;
  /** Nodes younger than this stay, whatever is said of them; a provider may ask for more. */
  readonly minAgeMs: number;
  /** From a conclusive absence to the deletion, so that all Nodes that go the same way are counted before the first one goes. */
  readonly settleMs: number;
  /** Without deletions after a provider's failure. */
  readonly freezeMs: number;
}

/** The provider that owns the Node, at this moment. */
export interface ProviderState {
  readonly name: string;
  readonly scopeId: string;
  readonly bootId: string;
  /** Why none of its absences is to be believed now. */
  readonly untrustedReason: string | undefined;
  readonly existenceConsistencyDelayMs: number;
  /** Monotonic; when it last failed for want of rights, credentials or a cloud. */
  readonly failedAtMs: number | undefined;
  /** Monotonic; when a machine that it had called absent last turned up. */
  readonly contradictedAtMs: number | undefined;
}

/** Everything a deletion is decided by. */
export interface GuardInput {
  readonly absences: Absences | undefined;
  readonly provider: ProviderState;
  readonly brake: CircuitBreaker;
  readonly rules: GuardRules;
  readonly createdMs: number;
  readonly nowMs: number;
  readonly monotonicMs: number;
}

/** Why a Node whose machine is said to be absent stays for now; label of metrics. */
export type DelayReason =
  | "unconfirmed"
  | "providerUntrusted"
  | "providerErrors"
  | "tooNew"
  | "confirming"
  | "tooManyNodeDeletions";

export interface Delay {
  readonly kind: "hold";
  readonly reason: DelayReason;
  readonly message: string;
  /** When this alone would hold no longer; undefined: not by the passing of time. */
  readonly endsInMs: number | undefined;
}

export type Decision = { readonly kind: "delete" } | Delay;

/** Times are rounded down to seconds by Kubernetes. */
const SECOND_MS = 1000;

/** Whether the Node goes. Every rule can only hold; none can hasten another. */
export function decide(facts: GuardInput): Decision {
  const { absences, provider } = facts;
  if (absences === undefined || !isSameWitness(absences.witness, { ...provider, provider: provider.name })) {
    return hold("unconfirmed", "no absence counts yet");
  }
  if (isContradicted(absences, provider.contradictedAtMs)) {
    return hold("unconfirmed", `provider ${provider.name} called another machine absent that is there`);
  }
  return (
    providerDelay(facts) ??
    ageDelay(facts) ??
    confirmationDelay(absences, facts) ??
    circuitBreakerDelay(facts) ?? { kind: "delete" }
  );
}

/** How long a Node is younger than `minAgeMs`; 0: it is not. */
export function youngForMs(createdMs: number, minAgeMs: number, nowMs: number): number {
  return Math.max(createdMs + SECOND_MS + minAgeMs - nowMs, 0);
}

function providerDelay({ provider, rules, monotonicMs }: GuardInput): Delay | undefined {
  const { name, untrustedReason, failedAtMs } = provider;
  if (untrustedReason !== undefined) return hold("providerUntrusted", `provider ${name}: ${untrustedReason}`);
  const leftMs = failedAtMs === undefined ? 0 : failedAtMs + rules.freezeMs - monotonicMs;
  if (leftMs <= 0) return undefined;
  const message = `provider ${name} failed, or contradicted itself, less than ${rules.freezeMs / 1000} s ago`;
  return hold("providerErrors", message, leftMs);
}

function ageDelay({ provider, rules, createdMs, nowMs }: GuardInput): Delay | undefined {
  const minAgeMs = Math.max(rules.minAgeMs, provider.existenceConsistencyDelayMs);
  const leftMs = youngForMs(createdMs, minAgeMs, nowMs);
  if (leftMs === 0) return undefined;
  return hold("tooNew", `the Node is younger than ${minAgeMs / 1000} s`, leftMs);
}

function confirmationDelay(
  { count, first, last, conclusive }: Absences,
  { rules, monotonicMs }: GuardInput,
): Delay | undefined {
  if (conclusive) {
    const leftMs = first.heardAtMs + rules.settleMs - monotonicMs;
    return leftMs <= 0 ? undefined : hold("confirming", "the machine is terminated; others may be too", leftMs);
  }
  // Both clocks must agree that the time has passed: one of them may have been set.
  const spanMs = Math.min(last.observeTimeMs - first.observeTimeMs, last.heardAtMs - first.heardAtMs);
  if (count >= rules.confirmations && spanMs >= rules.spanMs) return undefined;
  const message = `${count} of ${rules.confirmations} absences, over ${Math.floor(spanMs / 1000)} of ${rules.spanMs / 1000} s`;
  const steps = Math.max(rules.confirmations - count, 1);
  return hold("confirming", message, Math.max(rules.spanMs - spanMs, 0) / steps);
}

function circuitBreakerDelay({ provider, brake }: GuardInput): Delay | undefined {
  return brake.exempt || !isOpen(brake) ? undefined : hold("tooManyNodeDeletions", openMessage(provider.name, brake));
}

function hold(reason: DelayReason, message: string, endsInMs?: number): Delay {
  return { kind: "hold", reason, message, endsInMs };
}
