import { DONE, type ReconcileContext, type Result } from "../../../runtime/reconciler.ts";
import { RetryAfterError, TerminalError } from "../../../util/errors.ts";
import { applyChange } from "./change.ts";
import { applyDelete } from "./delete.ts";
import { noteLook } from "./drift.ts";
import { applyKeep } from "./keep.ts";
import { applyLeave } from "./leave.ts";
import { applyRetire } from "./retire.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { unlessOvertaken } from "./overtaken.ts";
import { addFinalizer, finish, poll } from "./status.ts";
import { MUTED } from "./conditions.ts";
import { LoadBalancerSyncError } from "../errors.ts";
import type { Plan, Refuse, Settle } from "../plan/types.ts";

/** Carries the plan out: finalizer, then the cloud, then the event, then the status. */
export async function apply(plan: Plan, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  switch (plan.kind) {
    case "delete":
      return unlessOvertaken(applyDelete(plan, deps, context));
    case "keep":
      return applyKeep(plan, await applyMeanwhile(plan.meanwhile, deps, context), deps, context);
    case "leave":
      return applyLeave(plan, deps, context);
    case "retire":
      return unlessOvertaken(applyRetire(plan, deps, context));
    case "refuse":
      return applyRefuse(plan, deps, context);
    case "change":
      return applyChange(plan, deps, context);
    case "settle":
      return applySettle(plan, deps, context);
    case "wait":
      return poll(plan.service, plan.present, deps, context);
    case "fail":
      // Unknown again: the next try asks for it anew instead of polling.
      deps.records.commit(context.key, { kind: "changeFailed", nowMs: deps.clock.monotonicMs() });
      throw new LoadBalancerSyncError(plan.message, { reason: "Failed" });
    case "forget":
      deps.ownWrites.forget(plan.key);
      deps.conditions.forget(plan.key);
      return DONE;
    default:
      return plan satisfies never;
  }
}

/** Keeps up what stands. What the condition says is not its to say. */
async function applyMeanwhile(
  meanwhile: Plan | undefined,
  deps: ApplyDependencies,
  context: ReconcileContext,
): Promise<Result> {
  return meanwhile === undefined ? DONE : apply(meanwhile, { ...deps, conditions: MUTED, isMeanwhile: true }, context);
}

/** Keeps up what stands, then says why no more is done: the condition tells of the refusal alone. */
async function applyRefuse(
  { refusal, meanwhile }: Refuse,
  deps: ApplyDependencies,
  context: ReconcileContext,
): Promise<Result> {
  const result = await applyMeanwhile(meanwhile, deps, context);
  if (result.kind === "requeueAfter") return result;
  const { message, retryAfterMs, nextTry } = refusal;
  const cause = new LoadBalancerSyncError(message, { reason: "Refused", nextTry });
  throw retryAfterMs === undefined
    ? new TerminalError(message, { cause })
    : new RetryAfterError(message, retryAfterMs, { cause });
}

async function applySettle(plan: Settle, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  const { service, present, finished, nodeCount, look } = plan;
  if (look !== undefined) noteLook(service, present, look, deps, context);
  if (!(await addFinalizer(service, plan.finalizerPatch, undefined, deps, context))) return DONE;
  return finish(service, present, { purpose: finished, nodeCount }, deps, context);
}
