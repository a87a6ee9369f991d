import { keyOf } from "../../../api/meta.ts";
import type { Service } from "../../../api/service.ts";
import { serviceRef } from "../../../provider/convert/service.ts";
import type { ChangeOptions, LoadBalancerRef } from "../../../provider/model/client.ts";
import { hasReason } from "../../../provider/model/errors.ts";
import type { LoadBalancerDeletion } from "../../../provider/model/load-balancer.ts";
import type { ChangeableProvider } from "../../../provider/model/provider.ts";
import { DONE, type Result, requeueAfter } from "../../../runtime/reconciler.ts";
import { causesOf } from "../../../util/errors.ts";
import { LoadBalancerSyncError, describe, failureText, isQuiet } from "../failure.ts";
import {
  deleteLoadBalancerFailed,
  deletePreviousLoadBalancerFailed,
  deletedLoadBalancer,
  deletedPreviousLoadBalancer,
  deletingLoadBalancer,
  diagnosed,
  waitingForDeletion,
} from "../events.ts";
import { loadBalancerRef } from "../gather/desired.ts";
import { deletionDetail } from "../plan/deletion.ts";
import { deleting } from "../plan/status.ts";
import type { Delete, DeletePrevious, DesiredLoadBalancer } from "../plan/types.ts";
import { isDeleting, isDeletionProtected, needsUpdate, wantsLoadBalancer } from "../predicates.ts";
import { hintOf } from "../record/record.ts";
import { type ApplyDependencies, again, openRequest, patch, providerNamed, report } from "./status.ts";

/** Always calls the provider, even if no load balancer is known: only the provider can see remaining resources. */
export async function applyDelete(plan: Delete, deps: ApplyDependencies): Promise<Result> {
  const { service, isGone } = plan;
  const { events, records } = deps;
  if (plan.announce) events.record(deletingLoadBalancer(service));
  const deletion = await callDelete(plan, deps);
  const { done, operation, diagnostics, remaining } = deletion;
  for (const diagnostic of diagnostics) events.record(diagnosed(service, diagnostic));
  if (!done) {
    const detail = deletionDetail(deletion);
    if (detail !== "" && detail !== plan.detail) events.record(waitingForDeletion(service, detail, remaining));
    records.commit(deps.context.key, { kind: "deleteAccepted", operation: { id: operation?.id ?? "", detail } });
    if (!isGone) await report(service, deleting(detail, remaining), deps);
    return again(operation?.pollAfterMs, deps, { reason: "Deleting", message: deleting(detail).message });
  }
  if (plan.patch !== undefined) await patch("remove load balancer cleanup finalizer", service, plan.patch, deps);
  events.record(deletedLoadBalancer(service));
  records.commit(deps.context.key, { kind: "deleted" });
  // Another Service may have the name by now.
  return isGone ? requeueAfter(0) : DONE;
}

async function callDelete(plan: Delete, deps: ApplyDependencies): Promise<LoadBalancerDeletion> {
  const { service, isGone, unprotected } = plan;
  const provider = providerNamed(deps, plan.provider);
  const ref = loadBalancerRef(service, provider.info, plan.loadBalancerId, plan.operationId);
  const intent = `${service.metadata.uid} delete`;
  const { signal, key } = deps.context;
  const options = {
    signal,
    requestId: openRequest("deleteRequested", { service, provider: plan.provider, intent }, deps),
    trigger: isGone ? "service gone" : "service deleted",
    lockKey: hintOf(deps.records.get(key))?.lockKey,
    refuse: () => refuseSuperseded(service, deps, (now) => wantsLoadBalancer(now) && !isDeleting(now)),
  };
  try {
    return await deleteUnprotected(provider, ref, service, unprotected, options);
  } catch (error) {
    if (isSuperseded(error)) throw error;
    if (isGone && !isQuiet(error, deps.context))
      deps.events.record(deleteLoadBalancerFailed(service, failureText(error)));
    const message = `failed to delete load balancer: ${describe(error)}`;
    throw new LoadBalancerSyncError(message, { cause: error, isReported: isGone });
  }
}

/** Where the cloud protects the load balancer and the Service allows it, the protection is removed first: by a spec without it. */
async function deleteUnprotected(
  { client }: ChangeableProvider,
  ref: LoadBalancerRef,
  service: Service,
  unprotected: DesiredLoadBalancer | undefined,
  options: ChangeOptions & Required<Pick<ChangeOptions, "refuse">>,
): Promise<LoadBalancerDeletion> {
  try {
    return await client.deleteLoadBalancer(ref, options);
  } catch (error) {
    if (!hasReason(error, "DELETION_PROTECTED") || unprotected?.spec === undefined) throw error;
    const { spec, specFingerprint, nodes } = unprotected;
    const { signal, refuse } = options;
    const input = { service: serviceRef(service), spec, specFingerprint, nodes };
    await client.ensureLoadBalancer(input, { signal, refuse, trigger: "deletion protection removed" });
    return client.deleteLoadBalancer(ref, options);
  }
}

/** Deletes the load balancer of a previous provider. The present one and its condition are not touched. */
export async function applyDeletePrevious(
  { service, previous }: DeletePrevious,
  deps: ApplyDependencies,
): Promise<Result> {
  const { events, records } = deps;
  const { loadBalancerID, unprotected } = previous;
  const provider = providerNamed(deps, previous.provider);
  const ref = loadBalancerRef(service, provider.info, loadBalancerID, undefined);
  // Another spec may make the previous provider the present one.
  const refuse = (): void => refuseSuperseded(service, deps, (now) => needsUpdate(service, now));
  const options = { signal: deps.context.signal, trigger: "served by another provider", refuse };
  try {
    const { done, operation } = await deleteUnprotected(provider, ref, service, unprotected, options);
    if (!done) return again(operation?.pollAfterMs, deps);
  } catch (error) {
    if (isSuperseded(error)) throw error;
    if (!isQuiet(error, deps.context)) {
      events.record(deletePreviousLoadBalancerFailed(service, previous.provider, failureText(error)));
    }
    const message = `failed to delete the load balancer of previous provider ${previous.provider}: ${describe(error)}`;
    throw new LoadBalancerSyncError(message, { cause: error, isReported: true, isAside: true });
  }
  // Without an ID it may never have existed.
  if (loadBalancerID !== undefined)
    events.record(deletedPreviousLoadBalancer(service, previous.provider, loadBalancerID));
  records.commit(deps.context.key, { kind: "previousCleared", provider: previous.provider });
  return requeueAfter(0);
}

/** Other keys get their turn in between, in case plan and check ever disagree. */
const REPLAN_MS = 1000;

/** The Service has changed while the deletion was queued. */
class SupersededError extends Error {
  readonly code = "SUPERSEDED";
  override readonly name = "SupersededError";
}

/** Throws when the Service, as the next gather will see it, must keep its load balancer. */
function refuseSuperseded(
  service: Service,
  { records, services, ownWrites }: Pick<ApplyDependencies, "records" | "services" | "ownWrites">,
  isKept: (now: Service) => boolean,
): void {
  const key = keyOf(service);
  const { uid } = service.metadata;
  const cached = services.get(key);
  const now = cached?.metadata.uid === uid ? ownWrites.latest(cached) : undefined;
  const record = records.get(key);
  const last = record?.uid === uid && record.isDeleted ? record.lastSeen : service;
  if ((now !== undefined && isKept(now)) || isDeletionProtected(now ?? last))
    throw new SupersededError(`Service ${key} has changed; its load balancer was not deleted`);
}

/** Plans again soon when the deletion is superseded. */
export async function unlessSuperseded(applied: Promise<Result>): Promise<Result> {
  try {
    return await applied;
  } catch (error) {
    if (isSuperseded(error)) return requeueAfter(REPLAN_MS);
    throw error;
  }
}

function isSuperseded(error: unknown): boolean {
  return causesOf(error).some((cause) => cause instanceof SupersededError);
}
