import { serviceRef } from "../../../provider/convert/service.ts";
import { hasReason } from "../../../provider/model/errors.ts";
import type { LoadBalancerDeletion } from "../../../provider/model/load-balancer.ts";
import { DONE, type ReconcileContext, type Result, requeueAfter } from "../../../runtime/reconciler.ts";
import { describe, isQuiet, LoadBalancerSyncError } from "../errors.ts";
import { deletedLoadBalancer, deleteLoadBalancerFailed, deletingLoadBalancer, diagnosed } from "../events.ts";
import { failureText } from "../failure-readiness.ts";
import { hintOf, openRequestID } from "../record/record.ts";
import { loadBalancerRef } from "../gather/load-balancer-ref.ts";
import { DELETING } from "../plan/status.ts";
import type { Delete } from "../plan/types.ts";
import type { Wish } from "../plan/wish.ts";
import { type ApplyDependencies, providerNamed } from "./dependencies.ts";
import { isOvertaken, refuseOvertakenDelete } from "./overtaken.ts";
import { again, patch, tell } from "./status.ts";

/** The provider is always asked to delete, also when nothing is known there: only it can see leftovers. */
export async function applyDelete(plan: Delete, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  const { service, announce, isGone } = plan;
  const { events, records } = deps;
  if (announce) events.record(deletingLoadBalancer(service));
  const { done, operation, diagnostics } = await callDelete(plan, deps, context);
  for (const diagnostic of diagnostics) events.record(diagnosed(service, diagnostic));
  if (!done) {
    records.commit(context.key, { kind: "deleteAccepted", operation: { id: operation?.id ?? "" } });
    if (!isGone) await tell(service, DELETING, deps, context);
    return again(operation?.pollAfterMs, deps);
  }
  if (plan.patch !== undefined)
    await patch("remove load balancer cleanup finalizer", service, plan.patch, deps, context);
  events.record(deletedLoadBalancer(service));
  records.commit(context.key, { kind: "deleted" });
  // Another Service may stand under the name by now.
  return isGone ? requeueAfter(0) : DONE;
}

async function callDelete(
  plan: Delete,
  deps: ApplyDependencies,
  context: ReconcileContext,
): Promise<LoadBalancerDeletion> {
  const { service, isGone } = plan;
  const provider = providerNamed(deps, plan.provider);
  const ref = loadBalancerRef(service, provider.info, plan.loadBalancerId, plan.operationId);
  const requestId = requestDeletion(plan, deps, context);
  const trigger = isGone ? "service gone" : "service deleted";
  const refuse = (): void => refuseOvertakenDelete(service, deps);
  const options = { signal: context.signal, requestId, trigger, refuse };
  const lockKey = hintOf(deps.records.get(context.key))?.lockKey;
  const call = () =>
    deps.gate.run(provider, context, lockKey, () => {
      refuse();
      return provider.client.deleteLoadBalancer(ref, options);
    });
  try {
    return await call().catch(async (error: unknown) => {
      if (!hasReason(error, "DELETION_PROTECTED") || plan.unprotected === undefined) throw error;
      await unprotect(plan, plan.unprotected, refuseOvertakenDelete, deps, context);
      return call();
    });
  } catch (error) {
    if (isOvertaken(error)) throw error;
    throw deletionError(plan, deps, context, error);
  }
}

/** Recorded before the call, because its answer may be lost. Returns the ID of the request. */
function requestDeletion(
  { service, provider }: Delete,
  { records, newId }: Pick<ApplyDependencies, "records" | "newId">,
  { key }: ReconcileContext,
): string {
  const intent = `${service.metadata.uid} delete`;
  const requestID = openRequestID(records.get(key), intent) ?? newId();
  records.commit(key, { kind: "deleteRequested", service, provider, intent, requestID });
  return requestID;
}

/** The only way to take a protection at the cloud back is another wish. */
export async function unprotect(
  { service, provider: name }: Pick<Delete, "service" | "provider">,
  { spec, specFingerprint, nodes }: Wish,
  refuse: typeof refuseOvertakenDelete,
  deps: ApplyDependencies,
  context: ReconcileContext,
): Promise<void> {
  if (spec === undefined) return;
  const provider = providerNamed(deps, name);
  const input = { service: serviceRef(service), spec, specFingerprint, nodes };
  const ask = (): void => refuse(service, deps);
  const options = { signal: context.signal, trigger: "deletion protection lifted", refuse: ask };
  await deps.gate.run(provider, context, undefined, () => {
    ask();
    return provider.client.ensureLoadBalancer(input, options);
  });
}

function deletionError(
  { service, isGone }: Delete,
  { events }: ApplyDependencies,
  context: ReconcileContext,
  error: unknown,
): LoadBalancerSyncError {
  const message = `failed to delete load balancer: ${describe(error)}`;
  if (isGone && !isQuiet(error, context)) events.record(deleteLoadBalancerFailed(service, failureText(error)));
  return new LoadBalancerSyncError(message, { cause: error, isTold: isGone });
}
