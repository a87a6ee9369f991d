import type { LoadBalancer, LoadBalancerCheck, LoadBalancerResult } from "../../../provider/model/load-balancer.ts";
import type { Drift, Present, Repairs } from "../record/record.ts";

/** Repair drift now, at a later sweep, or not for a day because it returns each time. */
export type DriftDecision = "repair" | "later" | "suspended";

/** After so many repairs another client evidently insists on its change. */
const MAX_REPAIRS = 5;
const SUSPENDED_MS = 86_400_000;

/** A missing load balancer is always recreated, but at most at this interval. */
const MAX_VANISHED_WAIT_MS = 3_600_000;

/** For a load balancer without a change in progress. undefined: it is as acknowledged. */
export function driftOf(present: Present, answer: LoadBalancerResult): Drift | undefined {
  return answer.kind === "absent" ? gone(present.loadBalancerID) : changeOf(present, answer.loadBalancer);
}

/** The cloud objects do not match the desired state. */
export function driftOfCheck(
  present: Present,
  check: Exclude<LoadBalancerCheck, { readonly kind: "matches" | "changing" | "unsupported" }>,
): Drift {
  const id = present.loadBalancerID;
  if (check.kind === "missing") return gone(id);
  const [first = "", ...more] = check.differences;
  const what = more.length === 0 ? first : `${first}, and ${more.length} more`;
  return changed(`load balancer ${id} was changed in the cloud, and does not match the spec: ${what}`);
}

/** A list suggests drift, or the load balancer was never compared with the desired state. `loadBalancer`: undefined if a complete list lacks it. */
export function isSuspect(present: Present, loadBalancer: LoadBalancer | undefined): boolean {
  if (present.operation !== undefined) return false;
  return (
    loadBalancer === undefined ||
    present.baseline.kind === "unverified" ||
    changeOf(present, loadBalancer) !== undefined
  );
}

function changeOf(present: Present, loadBalancer: LoadBalancer): Drift | undefined {
  const { phase, operation, specFingerprint, nodesFingerprint, observedFingerprint, id } = loadBalancer;
  if (phase === "failed") return changed(`load balancer ${id} has failed`);
  // The outcome of a change in progress is not known yet.
  if (phase !== "active" || operation !== undefined) return undefined;
  if (differ(present.specFingerprint, specFingerprint))
    return changed(`another spec is in force for load balancer ${id}`);
  if (differ(present.nodesFingerprint, nodesFingerprint)) return changed(`load balancer ${id} has other nodes`);
  const { baseline } = present;
  if (baseline.kind === "verified" && differ(baseline.fingerprint, observedFingerprint)) {
    return changed(`load balancer ${id} was changed in the cloud`);
  }
  return undefined;
}

function gone(id: string): Drift {
  return { kind: "missing", what: `load balancer ${id} is gone from the cloud` };
}

function changed(what: string): Drift {
  return { kind: "changed", what };
}

/** Providers without fingerprints return empty ones. */
function differ(acknowledged: string, read: string): boolean {
  return acknowledged !== "" && read !== "" && acknowledged !== read;
}

/** Repairs of recurring drift become rarer, in doubling periods. Half a period allows for the jitter of sweeps. */
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

/** Drift after this time is a new one. */
export function isOver(repairs: Repairs, nowMs: number, periodMs: number): boolean {
  return nowMs - repairs.lastMs >= periodMs / 2;
}
