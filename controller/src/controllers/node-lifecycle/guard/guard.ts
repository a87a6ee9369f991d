import { type Absences, isContradicted, isSameWitness } from "./absences.ts";
import { type Brake, brakeMessage, isBraked } from "./circuit-breaker.ts";

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
export interface Standing {
  readonly name: string;
  readonly scopeId: string;
  readonly bootId: string;
  /** Why none of its absences is to be believed now. */
  readonly doubt: string | undefined;
  readonly existenceConsistencyDelayMs: number;
  /** Monotonic; when it last failed for want of rights, credentials or a cloud. */
  readonly failedAtMs: number | undefined;
  /** Monotonic; when a machine that it had called absent last turned up. */
  readonly contradictedAtMs: number | undefined;
}

/** Everything a deletion is decided by. */
export interface Case {
  readonly absences: Absences | undefined;
  readonly standing: Standing;
  readonly brake: Brake;
  readonly rules: GuardRules;
  readonly createdMs: number;
  readonly nowMs: number;
  readonly monotonicMs: number;
}

/** Why a Node whose machine is said to be absent stays for now; label of metrics. */
export type HoldReason = "unconfirmed" | "providerDoubted" | "providerFailed" | "young" | "counting" | "brake";

export interface Hold {
  readonly kind: "hold";
  readonly reason: HoldReason;
  readonly message: string;
  /** When this alone would hold no longer; undefined: not by the passing of time. */
  readonly overInMs: number | undefined;
}

export type Verdict = { readonly kind: "delete" } | Hold;

/** Times are rounded down to seconds by Kubernetes. */
const SECOND_MS = 1000;

/** Whether the Node goes. Every rule can only hold; none can hasten another. */
export function judge(facts: Case): Verdict {
  const { absences, standing } = facts;
  if (absences === undefined || !isSameWitness(absences.witness, { ...standing, provider: standing.name })) {
    return hold("unconfirmed", "no absence counts yet");
  }
  if (isContradicted(absences, standing.contradictedAtMs)) {
    return hold("unconfirmed", `provider ${standing.name} called another machine absent that is there`);
  }
  return (
    holdOfProvider(facts) ??
    holdOfAge(facts) ??
    holdOfCount(absences, facts) ??
    holdOfBrake(facts) ?? { kind: "delete" }
  );
}

/** How long a Node is younger than `minAgeMs`; 0: it is not. */
export function youngForMs(createdMs: number, minAgeMs: number, nowMs: number): number {
  return Math.max(createdMs + SECOND_MS + minAgeMs - nowMs, 0);
}

function holdOfProvider({ standing, rules, monotonicMs }: Case): Hold | undefined {
  const { name, doubt, failedAtMs } = standing;
  if (doubt !== undefined) return hold("providerDoubted", `provider ${name}: ${doubt}`);
  const leftMs = failedAtMs === undefined ? 0 : failedAtMs + rules.freezeMs - monotonicMs;
  if (leftMs <= 0) return undefined;
  const message = `provider ${name} failed, or contradicted itself, less than ${rules.freezeMs / 1000} s ago`;
  return hold("providerFailed", message, leftMs);
}

function holdOfAge({ standing, rules, createdMs, nowMs }: Case): Hold | undefined {
  const minAgeMs = Math.max(rules.minAgeMs, standing.existenceConsistencyDelayMs);
  const leftMs = youngForMs(createdMs, minAgeMs, nowMs);
  if (leftMs === 0) return undefined;
  return hold("young", `the Node is younger than ${minAgeMs / 1000} s`, leftMs);
}

function holdOfCount({ count, first, last, conclusive }: Absences, { rules, monotonicMs }: Case): Hold | undefined {
  if (conclusive) {
    const leftMs = first.heardAtMs + rules.settleMs - monotonicMs;
    return leftMs <= 0 ? undefined : hold("counting", "the machine is terminated; others may be too", leftMs);
  }
  // Both clocks must agree that the time has passed: one of them may have been set.
  const spanMs = Math.min(last.observeTimeMs - first.observeTimeMs, last.heardAtMs - first.heardAtMs);
  if (count >= rules.confirmations && spanMs >= rules.spanMs) return undefined;
  const message = `${count} of ${rules.confirmations} absences, over ${Math.floor(spanMs / 1000)} of ${rules.spanMs / 1000} s`;
  const steps = Math.max(rules.confirmations - count, 1);
  return hold("counting", message, Math.max(rules.spanMs - spanMs, 0) / steps);
}

function holdOfBrake({ standing, brake }: Case): Hold | undefined {
  return brake.exempt || !isBraked(brake) ? undefined : hold("brake", brakeMessage(standing.name, brake));
}

function hold(reason: HoldReason, message: string, overInMs?: number): Hold {
  return { kind: "hold", reason, message, overInMs };
}
