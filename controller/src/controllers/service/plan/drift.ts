import type { LoadBalancer, LoadBalancerResult } from "../../../provider/model/load-balancer.ts";
import type { Drift, Present, Repairs } from "../record/record.ts";

/** What is to be done about a drift: made as wished at once, at a later sweep, or not for long, for it comes back each time. */
export type DriftDecision = "repair" | "later" | "suspended";

/** Somebody else makes it otherwise each time: the sixth try would not differ. */
const MAX_REPAIRS = 5;
const SUSPENDED_MS = 86_400_000;

/** A load balancer that is gone serves nobody: it is made again however often it goes, but not without pause. */
const MAX_VANISHED_WAIT_MS = 3_600_000;

/** What a read shows of a load balancer at which nothing is under way; undefined: what was acknowledged. */
export function driftOf(present: Present, answer: LoadBalancerResult): Drift | undefined {
  return answer.kind === "absent"
    ? { kind: "missing", what: `load balancer ${present.loadBalancerID} is gone from the cloud` }
    : changeOf(present, answer.loadBalancer);
}

/** True: a list gives reason to look. `loadBalancer` is undefined for what a complete list lacks. */
export function isSuspect(present: Present, loadBalancer: LoadBalancer | undefined): boolean {
  if (present.operation !== undefined) return false;
  return loadBalancer === undefined || changeOf(present, loadBalancer) !== undefined;
}

function changeOf(present: Present, loadBalancer: LoadBalancer): Drift | undefined {
  const { phase, operation, specFingerprint, nodesFingerprint, observedFingerprint, id } = loadBalancer;
  if (phase === "failed") return changed(`load balancer ${id} has failed`);
  // What is under way is somebody's wish whose outcome is not known yet.
  if (phase !== "active" || operation !== undefined) return undefined;
  if (differ(present.specFingerprint, specFingerprint))
    return changed(`another wish is in force for load balancer ${id}`);
  if (differ(present.nodesFingerprint, nodesFingerprint)) return changed(`load balancer ${id} has other nodes`);
  if (differ(present.observedFingerprint, observedFingerprint)) {
    return changed(`load balancer ${id} was changed in the cloud`);
  }
  return undefined;
}

function changed(what: string): Drift {
  return { kind: "changed", what };
}

/** A provider that keeps no fingerprints answers with empty ones. */
function differ(acknowledged: string, read: string): boolean {
  return acknowledged !== "" && read !== "" && acknowledged !== read;
}

/** When a drift is repaired: at once, and ever more rarely while it comes back. Half a period is left to the sweeps' jitter. */
export function driftDecision(
  kind: Drift["kind"],
  repairs: Repairs | undefined,
  nowMs: number,
  periodMs: number,
): DriftDecision {
  if (repairs === undefined) return "repair";
  const sinceMs = nowMs - repairs.lastMs;
  const doubledMs = periodMs * 2 ** (repairs.count - 1) - periodMs / 2;
  if (kind === "missing") return sinceMs >= Math.min(doubledMs, MAX_VANISHED_WAIT_MS) ? "repair" : "later";
  if (repairs.count < MAX_REPAIRS) return sinceMs >= doubledMs ? "repair" : "later";
  return sinceMs >= SUSPENDED_MS ? "repair" : "suspended";
}

/** It was found as it should be: a drift that comes later is another one. */
export function isOver(repairs: Repairs, nowMs: number, periodMs: number): boolean {
  return nowMs - repairs.lastMs >= periodMs / 2;
}
