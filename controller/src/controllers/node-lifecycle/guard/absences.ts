import type { Absence, InstanceResult, Witness } from "../../../provider/model/instance.ts";

/** One reading of the cloud, by the clock of whoever read it and by ours. */
export interface Reading {
  readonly observeTimeMs: number;
  /** Monotonic: no step of a wall clock makes a span look longer than it was. */
  readonly heardAtMs: number;
}

/** Absences of one Node's machine without anything in between that says or untrustedReasons otherwise, all from one process in one scope. */
export interface Absences {
  readonly witness: Pick<Witness, "provider" | "scopeId" | "bootId">;
  /** Readings that differ in time. */
  readonly count: number;
  readonly first: Reading;
  readonly last: Reading;
  /** The cloud itself calls the machine terminated, in a read that another would not contradict. */
  readonly conclusive: boolean;
}

/** What a reading is measured against. */
export interface Moments {
  readonly createdMs: number;
  readonly notReadySinceMs: number;
  readonly nowMs: number;
  readonly monotonicMs: number;
  /** Monotonic; when a machine that the provider had called absent last turned up. */
  readonly contradictedAtMs: number | undefined;
}

/** Kubernetes writes times without their fraction: the moment lies somewhere in that second. */
const SECOND_MS = 1000;

/** A reading further ahead than this is from a clock that cannot be compared with the Node's times. */
const MAX_AHEAD_MS = 60_000;

/**
 * The absences so far after one more answer. undefined: none count, the next one is the first. Anything but an absence ends the
 * count, also an answer that says nothing: confirmations follow each other, or they confirm nothing.
 */
export function countAnswer(
  before: Absences | undefined,
  answer: InstanceResult,
  moments: Moments,
): Absences | undefined {
  if (answer.kind !== "absent") return undefined;
  const kept = before !== undefined && isContinued(before, answer, moments) ? before : undefined;
  if (ignoredReason(answer, moments) !== undefined) return kept;
  const reading = { observeTimeMs: answer.observeTimeMs, heardAtMs: moments.monotonicMs };
  const conclusive = answer.basis === "terminated" && answer.strong;
  if (kept === undefined) {
    const { provider, scopeId, bootId } = answer.witness;
    return { witness: { provider, scopeId, bootId }, count: 1, first: reading, last: reading, conclusive };
  }
  // The same reading reported twice, by whatever cache, confirms nothing.
  if (answer.observeTimeMs <= kept.last.observeTimeMs) return kept;
  return { ...kept, count: kept.count + 1, last: reading, conclusive: kept.conclusive || conclusive };
}

/** Why that absence does not count; undefined: it does. */
export function ignoredReason(
  { observeTimeMs }: Absence,
  moments: Pick<Moments, "createdMs" | "notReadySinceMs" | "nowMs">,
): string | undefined {
  const { createdMs, notReadySinceMs, nowMs } = moments;
  if (observeTimeMs < createdMs + SECOND_MS) return "the cloud was read before the Node was made";
  if (observeTimeMs < notReadySinceMs + SECOND_MS) return "the cloud was read before the Node became not ready";
  if (observeTimeMs > nowMs + MAX_AHEAD_MS) return "the time of reading lies in the future: compare the clocks";
  return undefined;
}

/** A new process, another scope, a Node that was ready meanwhile, or a provider that was wrong begins anew. */
function isContinued(before: Absences, answer: Absence, { notReadySinceMs, contradictedAtMs }: Moments): boolean {
  return (
    isSameWitness(before.witness, answer.witness) &&
    before.first.observeTimeMs >= notReadySinceMs + SECOND_MS &&
    !isContradicted(before, contradictedAtMs)
  );
}

/** They began before the provider was found to be wrong about another machine. */
export function isContradicted({ first }: Absences, contradictedAtMs: number | undefined): boolean {
  return contradictedAtMs !== undefined && first.heardAtMs <= contradictedAtMs;
}

export function isSameWitness(left: Absences["witness"], right: Absences["witness"]): boolean {
  return left.provider === right.provider && left.scopeId === right.scopeId && left.bootId === right.bootId;
}
