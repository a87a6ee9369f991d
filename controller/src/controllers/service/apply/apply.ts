import type { Service } from "../../../api/service.ts";
import { DONE, type Result, requeueAfter } from "../../../runtime/reconciler.ts";
import { RetryAfterError, TerminalError } from "../../../util/errors.ts";
import { LoadBalancerSyncError, isBusyTooLong, isRateLimited, isQuiet, readinessOfFailure } from "../failure.ts";
import { loadBalancerRetained, noLoadBalancerProvider, loadBalancerDeletionProtected } from "../events.ts";
import { PROTECTED, notServed, reportedReadiness } from "../plan/status.ts";
import type { Keep, Leave, Plan, Refuse, Settle } from "../plan/types.ts";
import { applyChange, recordInspection } from "./change.ts";
import {
  type ApplyDependencies,
  MUTED,
  type StatusWriting,
  addFinalizer,
  finish,
  poll,
  report,
  requestCheck,
} from "./status.ts";
import { applyDelete, applyDeletePrevious, unlessSuperseded } from "./delete.ts";

/** Carries out the plan. */
export async function apply(plan: Plan, deps: ApplyDependencies): Promise<Result> {
  switch (plan.kind) {
    case "delete":
      return unlessSuperseded(applyDelete(plan, deps));
    case "keep":
      return applyKeep(plan, await applyMeanwhile(plan.meanwhile, deps), deps);
    case "leave":
      return applyLeave(plan, deps);
    case "deletePrevious":
      return unlessSuperseded(applyDeletePrevious(plan, deps));
    case "refuse":
      return applyRefuse(plan, deps);
    case "change":
      return applyChange(plan, deps);
    case "settle":
      return applySettle(plan, deps);
    case "wait":
      return poll(plan.service, plan.present, deps);
    case "fail":
      // The state is unknown again: the next retry ensures instead of polling.
      deps.records.commit(deps.context.key, { kind: "changeFailed", nowMs: deps.clock.monotonicMs() });
      throw new LoadBalancerSyncError(plan.message, { reason: "LoadBalancerFailed" });
    case "forget":
      deps.ownWrites.forget(plan.key);
      deps.conditions.forget(plan.key);
      return DONE;
    default:
      return plan satisfies never;
  }
}

/** Serves the load balancer in force, without a condition of its own. */
async function applyMeanwhile(meanwhile: Plan | undefined, deps: ApplyDependencies): Promise<Result> {
  return meanwhile === undefined ? DONE : apply(meanwhile, { ...deps, conditions: MUTED, isMeanwhile: true });
}

async function applyRefuse({ refusal, meanwhile }: Refuse, deps: ApplyDependencies): Promise<Result> {
  const result = await applyMeanwhile(meanwhile, deps);
  if (result.kind === "requeue_after") return result;
  const { message, retryAfterMs, nextTry } = refusal;
  const cause = new LoadBalancerSyncError(message, { reason: "Rejected", nextTry });
  throw retryAfterMs === undefined
    ? new TerminalError(message, { cause })
    : new RetryAfterError(message, retryAfterMs, { cause });
}

async function applySettle(plan: Settle, deps: ApplyDependencies): Promise<Result> {
  const { service, present, finished, nodeCount, inspection } = plan;
  if (inspection !== undefined) recordInspection(service, present, inspection, deps);
  if (!(await addFinalizer(service, plan.finalizerPatch, undefined, deps))) return DONE;
  const result = await finish(service, present, { purpose: finished, nodeCount }, deps);
  if (plan.isFound) requestCheck(deps);
  return result;
}

/** `result` is that of the plan for the load balancer in force. */
async function applyKeep(
  { service, isGone, loadBalancerId, finalizerPatch }: Keep,
  result: Result,
  deps: ApplyDependencies,
): Promise<Result> {
  const { events, records, ownWrites } = deps;
  if (isGone) {
    events.record(loadBalancerRetained(service, loadBalancerId));
    deps.context.log.info("Retained the load balancer of a deleted Service: it has deletion protection", {
      loadBalancerId,
    });
    records.commit(deps.context.key, { kind: "retained" });
    // Another Service may have the name by now.
    return requeueAfter(0);
  }
  if (reportedReadiness(ownWrites.newest(service))?.reason !== PROTECTED.reason)
    events.record(loadBalancerDeletionProtected(service));
  await addFinalizer(service, finalizerPatch, PROTECTED, deps);
  await report(service, PROTECTED, deps);
  return result;
}

/** A provider that serves the load balancer again wakes the Service. */
async function applyLeave({ service, why }: Leave, deps: ApplyDependencies): Promise<Result> {
  const readiness = notServed(why);
  deps.context.log.warn("Load balancer is not changed: it no longer has a provider", { detail: why });
  const isNew = reportedReadiness(deps.ownWrites.newest(service))?.reason !== readiness.reason;
  await report(service, readiness, deps);
  if (isNew) deps.events.record(noLoadBalancerProvider(service, why));
  return DONE;
}

/**
 * Writes the failure to the condition of the Service. Never throws: the failure itself is what counts.
 * @param deps `inARow`: consecutive failures of one kind, this one included
 */
export async function reportFailure(
  error: unknown,
  cached: Service,
  deps: StatusWriting & { readonly inARow: number },
): Promise<void> {
  const { inARow, ownWrites } = deps;
  // What is queued or busy has no event, but the condition shows why nothing happens.
  const isReported = isBusyTooLong(error, inARow) || isRateLimited(error);
  if (deps.context.signal.aborted || (isQuiet(error, deps.context) && !isReported)) return;
  const service = ownWrites.latest(cached);
  const readiness = readinessOfFailure(error);
  if (readiness === undefined) return;
  // A single failed read does not change the status of a load balancer that serves traffic.
  if (readiness.status === "Unknown" && inARow === 1 && reportedReadiness(service)?.status === "True") return;
  try {
    await report(service, readiness, deps);
  } catch (failure) {
    deps.context.log.debug(2, "Could not update the condition of Service", { err: failure });
  }
}
