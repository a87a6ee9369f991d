import { keyOf } from "../../../api/meta.ts";
import type { Service } from "../../../api/service.ts";
import { serviceRef } from "../../../provider/convert/service.ts";
import { hasReason } from "../../../provider/model/errors.ts";
import type { LoadBalancerDeletion } from "../../../provider/model/load-balancer.ts";
import { DONE, type ReconcileContext, type Result, requeueAfter } from "../../../runtime/reconciler.ts";
import { causesOf } from "../../../util/errors.ts";
import { LoadBalancerSyncError, describe, failureText, isQuiet } from "../failure.ts";
import {
  deleteLoadBalancerFailed,
  deletedLoadBalancer,
  deletingLoadBalancer,
  diagnosed,
  deletedPreviousLoadBalancer,
  deletePreviousLoadBalancerFailed,
} from "../events.ts";
import { loadBalancerRef } from "../gather/desired.ts";
import { DELETING } from "../plan/status.ts";
import type { Delete, DeletePrevious, DesiredLoadBalancer } from "../plan/types.ts";
import { isDeleting, isDeletionProtected, needsUpdate, wantsLoadBalancer } from "../predicates.ts";
import { hintOf, openRequestID } from "../record/record.ts";
import { type ApplyDependencies, again, patch, providerNamed, report } from "./status.ts";

/** What it takes to request a deletion of a provider, unless the Service has changed meanwhile. */
type Calling = Looking & Pick<ApplyDependencies, "providers" | "gate">;

/** The provider is always asked to delete, also when nothing is known there: only it can see leftovers. */
export async function applyDelete(plan: Delete, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  const { service, announce, isGone } = plan;
  const { events, records } = deps;
  if (announce) events.record(deletingLoadBalancer(service));
  const { done, operation, diagnostics } = await callDelete(plan, deps, context);
  for (const diagnostic of diagnostics) events.record(diagnosed(service, diagnostic));
  if (!done) {
    records.commit(context.key, { kind: "deleteAccepted", operation: { id: operation?.id ?? "" } });
    if (!isGone) await report(service, DELETING, deps, context);
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
  deps: Calling & Pick<ApplyDependencies, "newId" | "events">,
  context: ReconcileContext,
): Promise<LoadBalancerDeletion> {
  const { service, isGone } = plan;
  const provider = providerNamed(deps, plan.provider);
  const ref = loadBalancerRef(service, provider.info, plan.loadBalancerId, plan.operationId);
  const requestId = requestDeletion(plan, deps, context);
  const trigger = isGone ? "service gone" : "service deleted";
  const refuse = (): void => refuseSupersededDelete(service, deps);
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
      await unprotect(plan, plan.unprotected, refuseSupersededDelete, deps, context);
      return call();
    });
  } catch (error) {
    if (isSuperseded(error)) throw error;
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
async function unprotect(
  { service, provider: name }: Pick<Delete, "service" | "provider">,
  { spec, specFingerprint, nodes }: DesiredLoadBalancer,
  refuse: typeof refuseSupersededDelete,
  deps: Calling,
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
  { events }: Pick<ApplyDependencies, "events">,
  context: ReconcileContext,
  error: unknown,
): LoadBalancerSyncError {
  const message = `failed to delete load balancer: ${describe(error)}`;
  if (isGone && !isQuiet(error, context)) events.record(deleteLoadBalancerFailed(service, failureText(error)));
  return new LoadBalancerSyncError(message, { cause: error, isReported: isGone });
}

/** Takes down what a provider made that serves the Service no more. What serves it is not touched, and its condition neither. */
export async function applyDeletePrevious(
  { service, previous }: DeletePrevious,
  deps: Calling & Pick<ApplyDependencies, "events" | "random">,
  context: ReconcileContext,
): Promise<Result> {
  const { events, records, gate } = deps;
  const { loadBalancerID } = previous;
  const provider = providerNamed(deps, previous.provider);
  const ref = loadBalancerRef(service, provider.info, loadBalancerID, undefined);
  const refuse = (): void => refuseSupersededPreviousDelete(service, deps);
  const options = { signal: context.signal, trigger: "served by another provider", refuse };
  const call = () =>
    gate.run(provider, context, undefined, () => {
      refuse();
      return provider.client.deleteLoadBalancer(ref, options);
    });
  try {
    const { done, operation } = await call().catch(async (error: unknown) => {
      if (!hasReason(error, "DELETION_PROTECTED") || previous.unprotected === undefined) throw error;
      await unprotect(
        { service, provider: previous.provider },
        previous.unprotected,
        refuseSupersededPreviousDelete,
        deps,
        context,
      );
      return call();
    });
    if (!done) return again(operation?.pollAfterMs, deps);
  } catch (error) {
    if (isSuperseded(error)) throw error;
    if (!isQuiet(error, context)) {
      events.record(deletePreviousLoadBalancerFailed(service, previous.provider, failureText(error)));
    }
    const message = `failed to delete what provider ${previous.provider} had of the Service: ${describe(error)}`;
    throw new LoadBalancerSyncError(message, { cause: error, isReported: true, isAside: true });
  }
  // Where only nobody could tell, there was nothing to speak of.
  if (loadBalancerID !== undefined)
    events.record(deletedPreviousLoadBalancer(service, previous.provider, loadBalancerID));
  records.commit(context.key, { kind: "previousCleared", provider: previous.provider });
  return requeueAfter(0);
}

/** Long enough for others to have their turn, should what is planned and what is seen here ever disagree. */
const REPLAN_MS = 1000;

/** What was planned is not to be done any more: the Service has changed while a change waited for its turn. */
class SupersededError extends Error {
  readonly code = "SUPERSEDED";
  override readonly name = "OvertakenError";
}

type Looking = Pick<ApplyDependencies, "records" | "services" | "ownWrites">;

/** To be asked when its turn has come, for what is deleted does not come back. */
function refuseSupersededDelete(service: Service, deps: Looking): void {
  const now = current(service, deps);
  const isWanted = now !== undefined && wantsLoadBalancer(now) && !isDeleting(now);
  if (isWanted || isDeletionProtected(now ?? lastOf(service, deps))) throw superseded(service);
}

/** As {@link refuseSupersededDelete}: another wish may make the previous provider the present one. */
function refuseSupersededPreviousDelete(service: Service, deps: Looking): void {
  const now = current(service, deps);
  const isAnother = now !== undefined && needsUpdate(service, now);
  if (isAnother || isDeletionProtected(now ?? lastOf(service, deps))) throw superseded(service);
}

/** Plans anew soon, on what was seen here. */
export async function unlessSuperseded(applied: Promise<Result>): Promise<Result> {
  try {
    return await applied;
  } catch (error) {
    if (isSuperseded(error)) return requeueAfter(REPLAN_MS);
    throw error;
  }
}

/** Found here, or when the call was to be sent. */
function isSuperseded(error: unknown): boolean {
  return causesOf(error).some((cause) => cause instanceof SupersededError);
}

/** As the next gathering will see it, or the same would be planned and refused again for ever. undefined: it is gone. */
function current(service: Service, { services, ownWrites }: Looking): Service | undefined {
  const cached = services.get(keyOf(service));
  return cached?.metadata.uid === service.metadata.uid ? ownWrites.latest(cached) : undefined;
}

function lastOf(service: Service, { records }: Looking): Service {
  const record = records.get(keyOf(service));
  return record?.uid === service.metadata.uid && record.isDeleted ? record.lastSeen : service;
}

function superseded(service: Service): SupersededError {
  return new SupersededError(`Service ${keyOf(service)} has changed; its load balancer was not deleted`);
}
