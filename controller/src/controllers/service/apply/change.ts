import type { Service } from "../../../api/service.ts";
import { serviceRef } from "../../../provider/convert/service.ts";
import type { ChangeOptions } from "../../../provider/model/client.ts";
import { type ProviderError, hasReason, isOfClass, retryDelayMs } from "../../../provider/model/errors.ts";
import type { LoadBalancer, LoadBalancerChange } from "../../../provider/model/load-balancer.ts";
import { DONE, type Result, requeueAfter } from "../../../runtime/reconciler.ts";
import { LoadBalancerSyncError, describe, failureText, isQuiet } from "../failure.ts";
import {
  adoptingLoadBalancer,
  diagnosed,
  driftNotRepaired,
  ensuringLoadBalancer,
  featureIgnored,
  nodesNotRegistered,
  loadBalancerDrifted,
  unavailableLoadBalancer,
  updateLoadBalancerFailed,
} from "../events.ts";
import { loadBalancerRef } from "../gather/desired.ts";
import { baselineAfter, isChangedBefore } from "../plan/baseline.ts";
import { progressOf } from "../plan/plan.ts";
import { isNew, namesOf, unregisteredAfter, unregisteredText } from "../plan/unregistered.ts";
import { PROVISIONING } from "../plan/status.ts";
import type { Change } from "../plan/types.ts";
import type { Present } from "../record/record.ts";
import type { Inspection } from "../record/transition.ts";
import {
  type ApplyDependencies,
  addFinalizer,
  finish,
  openRequest,
  poll,
  providerNamed,
  removeReadiness,
  requestCheck,
} from "./status.ts";

/** Order: finalizer, then the cloud, then event and status. */
export async function applyChange(plan: Change, deps: ApplyDependencies): Promise<Result> {
  const { service, purpose, desired, drift } = plan;
  const { events, records } = deps;
  const isEnsure = purpose === "ensure";
  if (drift !== undefined) events.record(loadBalancerDrifted(service, drift.what));
  if (isEnsure) events.record(ensuringLoadBalancer(service));
  const { adoptLoadBalancerId } = desired;
  if (adoptLoadBalancerId !== undefined) events.record(adoptingLoadBalancer(service, adoptLoadBalancerId));
  if (!(await addFinalizer(service, plan.finalizerPatch, PROVISIONING, deps))) return DONE;
  if (isEnsure && desired.nodes.count === 0) events.record(unavailableLoadBalancer(service));
  for (const { field, message } of plan.ignored) events.record(featureIgnored(service, field, message));

  const response = isEnsure ? await ensure(plan, deps) : await updateNodes(plan, deps);
  switch (response) {
    case "notFound":
      // Class RESYNC: retried immediately, once. A read could still return the deleted load balancer.
      records.commit(deps.context.key, { kind: "notFound", nowMs: deps.clock.monotonicMs() });
      return applyChange(recreated(plan), deps);
    case "rejected":
      // The next plan serves the load balancer in force and reports the rejection.
      return requeueAfter(0);
    case "notResponsible":
      records.commit(deps.context.key, { kind: "changeDeclined", service, bootID: bootIDOf(plan, deps) });
      await removeReadiness(service, deps);
      return DONE;
    default:
      return conclude(plan, response, deps);
  }
}

async function conclude(
  plan: Change,
  { loadBalancer, diagnostics }: LoadBalancerChange,
  deps: ApplyDependencies,
): Promise<Result> {
  const { service, purpose, desired } = plan;
  const { events, records, clock } = deps;
  recordDrift(plan, deps);
  for (const diagnostic of diagnostics) events.record(diagnosed(service, diagnostic));
  if (loadBalancer === undefined) throw new LoadBalancerSyncError("the provider's response has no load balancer");
  const before = plan.inForce?.unregistered;
  const unregistered = unregisteredAfter(desired, loadBalancer, before, clock.monotonicMs());
  if (unregistered !== undefined && isNew(unregistered, before))
    events.record(nodesNotRegistered(service, unregisteredText(unregistered), namesOf(unregistered)));
  const progress = progressOf(plan, loadBalancer, { baseline: baselineAfter(plan, loadBalancer), unregistered });
  switch (progress.kind) {
    case "failed":
      records.commit(deps.context.key, { kind: "changeFailed", nowMs: clock.monotonicMs() });
      throw new LoadBalancerSyncError(progress.message, { reason: "LoadBalancerFailed" });
    case "pending":
      return poll(service, progress.present, deps);
    case "done": {
      const result = await finish(service, progress.present, { purpose, nodeCount: desired.nodes.count }, deps);
      if (isCheckDue(plan, progress.present, loadBalancer)) requestCheck(deps);
      return result;
    }
    default:
      return progress satisfies never;
  }
}

/** Another client has changed the cloud objects before this change, or may have while this process did not run. */
function isCheckDue({ isFound, inForce }: Change, { baseline }: Present, loadBalancer: LoadBalancer): boolean {
  return baseline.kind === "unverified" && (isFound || isChangedBefore(inForce?.baseline, loadBalancer));
}

/**
 * `rejected`: only where a load balancer is in force. `notResponsible`: by its annotations, the Service belongs to another controller.
 */
type Declined = "notFound" | "notResponsible" | "rejected";

async function ensure(plan: Change, deps: ApplyDependencies): Promise<LoadBalancerChange | Declined> {
  try {
    return await callEnsure(plan, deps);
  } catch (error) {
    if (hasReason(error, "NOT_RESPONSIBLE")) return "notResponsible";
    const message = `failed to ensure load balancer: ${describe(error)}`;
    if (isOfClass(error, "FINAL") && deps.isMeanwhile !== true) {
      recordRejection(plan, error, message, deps);
      if (plan.inForce !== undefined) return "rejected";
    }
    throw new LoadBalancerSyncError(message, { cause: error });
  }
}

function recordRejection(plan: Change, error: ProviderError, message: string, deps: ApplyDependencies): void {
  const { service, inForce } = plan;
  const nowMs = deps.clock.monotonicMs();
  const untilMs = nowMs + (retryDelayMs(error, 1) ?? 0);
  const rejection = { service, bootID: bootIDOf(plan, deps), message, untilMs };
  deps.records.commit(deps.context.key, { kind: "changeRejected", rejection, inForce, nowMs });
}

function bootIDOf({ provider }: Change, deps: ApplyDependencies): string {
  return providerNamed(deps, provider).info?.bootId ?? "";
}

/** The same desired state, for a load balancer that does not exist. */
function recreated(plan: Change): Change {
  return {
    ...plan,
    purpose: "ensure",
    call: "ensure",
    trigger: "load balancer not found",
    loadBalancerId: undefined,
    operationId: undefined,
    acknowledgedNodes: undefined,
    finalizerPatch: undefined,
    inForce: undefined,
  };
}

async function callEnsure(plan: Change, deps: ApplyDependencies): Promise<LoadBalancerChange> {
  const { service, desired, operationId, acknowledgedNodes } = plan;
  const { spec } = desired;
  if (spec === undefined) {
    throw new LoadBalancerSyncError("the load balancer with the previous spec is gone, and that spec is not known");
  }
  const hint = operationId === undefined || operationId === "" ? {} : { operationId };
  const input = { service: serviceRef(service), ...desired, spec, acknowledgedNodes, ...hint };
  return providerNamed(deps, plan.provider).client.ensureLoadBalancer(input, changeOptions(plan, deps));
}

async function updateNodes(plan: Change, deps: ApplyDependencies): Promise<LoadBalancerChange | Declined> {
  const { metrics, clock, events } = deps;
  const startMs = clock.monotonicMs();
  metrics.loadBalancerSyncs.inc();
  try {
    return await (plan.call === "updateNodes" ? callUpdate(plan, deps) : callEnsure(plan, deps));
  } catch (error) {
    if (hasReason(error, "LOAD_BALANCER_NOT_FOUND")) return "notFound";
    if (hasReason(error, "NOT_RESPONSIBLE")) return "notResponsible";
    if (isQuiet(error, deps.context)) throw error;
    metrics.nodeSyncErrors.inc();
    const { source } = plan.desired.nodes;
    const names = source.kind === "inline" ? source.nodes.map(({ name }) => name) : [];
    events.record(updateLoadBalancerFailed(plan.service, names, failureText(error)));
    const message = `failed to update load balancer hosts: ${describe(error)}`;
    throw new LoadBalancerSyncError(message, { cause: error, isReported: true });
  } finally {
    metrics.updateHostLatencySeconds.observe((clock.monotonicMs() - startMs) / 1000);
  }
}

function callUpdate(plan: Change, deps: ApplyDependencies): Promise<LoadBalancerChange> {
  const { client, info } = providerNamed(deps, plan.provider);
  const ref = loadBalancerRef(plan.service, info, plan.loadBalancerId, plan.operationId);
  return client.updateLoadBalancerNodes({ ...ref, nodes: plan.desired.nodes }, changeOptions(plan, deps));
}

function changeOptions(
  { service, provider, call, desired, trigger, inForce }: Change,
  deps: ApplyDependencies,
): ChangeOptions {
  const { specFingerprint, nodes, adoptLoadBalancerId = "" } = desired;
  const intent = [service.metadata.uid, call, specFingerprint, nodes.fingerprint, adoptLoadBalancerId].join(" ");
  const { signal, priority } = deps.context;
  const requestId = openRequest("changeRequested", { service, provider, intent }, deps);
  return { signal, priority, requestId, trigger, lockKey: inForce?.lockKey };
}

/** Records the result of a read that a sweep requested. */
export function recordInspection(
  service: Service,
  { provider }: Present,
  inspection: Inspection,
  deps: ApplyDependencies,
): void {
  const { records, pace, clock, events, metrics } = deps;
  const { key, log } = deps.context;
  if (inspection.kind === "left") {
    const { drift, decision } = inspection;
    const { what, kind } = drift;
    log.debug(2, "Found load balancer drift; repair is deferred", { detail: what, decision });
    const isSuspended = decision === "suspended";
    metrics.drifts.inc({ provider, kind, action: isSuspended ? "suspended" : "deferred" });
    const isNew = records.get(key)?.drift.suspended === undefined;
    if (isSuspended && isNew) events.record(driftNotRepaired(service, what));
  }
  records.commit(key, { kind: "inspected", inspection, nowMs: clock.monotonicMs(), periodMs: pace.periodMs });
}

/** Called after the provider has accepted the change. */
function recordDrift(
  { provider, purpose, drift }: Change,
  { records, clock, metrics, context: { key } }: ApplyDependencies,
): void {
  if (drift !== undefined) {
    metrics.drifts.inc({ provider, kind: drift.kind, action: "repaired" });
    records.commit(key, { kind: "repaired", nowMs: clock.monotonicMs() });
  } else if (purpose === "ensure") {
    records.commit(key, { kind: "driftSuperseded" });
  }
}
