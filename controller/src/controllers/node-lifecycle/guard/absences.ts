import type { Absence, InstanceResult, Witness } from "../../../provider/model/instance.ts";

export interface Reading {
  readonly observeTimeMs: number;
  /** By our monotonic clock, so that a clock step cannot lengthen a span. */
  readonly heardAtMs: number;
}

/** Consecutive absences of one Node's instance, all reported by one process in one scope. */
export interface Absences {
  readonly witness: Pick<Witness, "provider" | "scopeId" | "bootId">;
  readonly count: number;
  readonly first: Reading;
  readonly last: Reading;
  /** A strong read says that the instance is terminated. */
  readonly conclusive: boolean;
}

export interface Moments {
  readonly createdMs: number;
  readonly notReadySinceMs: number;
  readonly nowMs: number;
  readonly monotonicMs: number;
  /** Monotonic; when an instance that the provider had reported as absent last reappeared. */
  readonly contradictedAtMs: number | undefined;
}

/** Kubernetes writes times without their fraction: the event may be up to a second later. */
const SECOND_MS = 1000;

/** Larger offsets mean that the provider's clock cannot be compared with the Node's times. */
const MAX_AHEAD_MS = 60_000;

/**
 * The absences including one more result. undefined: none count. Anything but an absence resets the count, even an unknown result, because
 * confirmations must be consecutive.
 */
export function countResult(
  before: Absences | undefined,
  result: InstanceResult,
  moments: Moments,
): Absences | undefined {
  if (result.kind !== "absent") return undefined;
  const kept = before !== undefined && isContinued(before, result, moments) ? before : undefined;
  if (ignoredReason(result, moments) !== undefined) return kept;
  const reading = { observeTimeMs: result.observeTimeMs, heardAtMs: moments.monotonicMs };
  const conclusive = result.basis === "terminated" && result.strong;
  if (kept === undefined) {
    const { provider, scopeId, bootId } = result.witness;
    return { witness: { provider, scopeId, bootId }, count: 1, first: reading, last: reading, conclusive };
  }
  // A cached read confirms nothing.
  if (result.observeTimeMs <= kept.last.observeTimeMs) return kept;
  return { ...kept, count: kept.count + 1, last: reading, conclusive: kept.conclusive || conclusive };
}

/** Why the absence does not count; undefined: it counts. */
export function ignoredReason(
  { observeTimeMs }: Absence,
  { createdMs, notReadySinceMs, nowMs }: Pick<Moments, "createdMs" | "notReadySinceMs" | "nowMs">,
): string | undefined {
  if (observeTimeMs < createdMs + SECOND_MS) return "the cloud was read before the Node was created";
  if (observeTimeMs < notReadySinceMs + SECOND_MS) return "the cloud was read before the Node became not ready";
  if (observeTimeMs > nowMs + MAX_AHEAD_MS) return "the time of the read is in the future: compare the clocks";
  return undefined;
}

/** Another process or scope, a Node that was ready in between, or a contradicted provider resets the count. */
function isContinued(before: Absences, result: Absence, { notReadySinceMs, contradictedAtMs }: Moments): boolean {
  return (
    isSameWitness(before.witness, result.witness) &&
    before.first.observeTimeMs >= notReadySinceMs + SECOND_MS &&
    !isContradicted(before, contradictedAtMs)
  );
}

/** The absences began before the provider was found to be wrong about another instance. */
export function isContradicted({ first }: Absences, contradictedAtMs: number | undefined): boolean {
  return contradictedAtMs !== undefined && first.heardAtMs <= contradictedAtMs;
}

export function isSameWitness(left: Absences["witness"], right: Absences["witness"]): boolean {
  return left.provider === right.provider && left.scopeId === right.scopeId && left.bootId === right.bootId;
}
