import type { Service } from "../../../api/service.ts";
import { serviceRef } from "../../../provider/convert/service.ts";
import type { ChangeOptions } from "../../../provider/model/client.ts";
import { type ProviderError, hasReason, isOfClass, retryDelayMs } from "../../../provider/model/errors.ts";
import type { LoadBalancerChange } from "../../../provider/model/load-balancer.ts";
import { DONE, type ReconcileContext, type Result, requeueAfter } from "../../../runtime/reconciler.ts";
import { LoadBalancerSyncError, describe, failureText, isQuiet } from "../failure.ts";
import {
  adoptingLoadBalancer,
  diagnosed,
  driftNotRepaired,
  ensuringLoadBalancer,
  featureIgnored,
  loadBalancerDrifted,
  unavailableLoadBalancer,
  updateLoadBalancerFailed,
} from "../events.ts";
import { loadBalancerRef } from "../gather/desired.ts";
import { progressOf } from "../plan/plan.ts";
import { PROVISIONING } from "../plan/status.ts";
import type { Change } from "../plan/types.ts";
import { type Present, openRequestID } from "../record/record.ts";
import type { Inspection } from "../record/transition.ts";
import { type ApplyDependencies, addFinalizer, finish, poll, providerNamed, removeReadiness } from "./status.ts";

/** What it takes to request a change of a provider. */
type Calling = Pick<ApplyDependencies, "providers" | "gate" | "records" | "newId">;

/** Asks the provider for the load balancer, or for its nodes alone. Finalizer first, then the cloud, then event and status. */
export async function applyChange(plan: Change, deps: ApplyDependencies, context: ReconcileContext): Promise<Result> {
  const { service, purpose, desired, ignored } = plan;
  const { events, records } = deps;
  const isEnsure = purpose === "ensure";
  reportRepair(plan, deps);
  if (isEnsure) events.record(ensuringLoadBalancer(service));
  if (desired.adoptLoadBalancerId !== undefined)
    events.record(adoptingLoadBalancer(service, desired.adoptLoadBalancerId));
  if (!(await addFinalizer(service, plan.finalizerPatch, PROVISIONING, deps, context))) return DONE;
  if (isEnsure && desired.nodes.count === 0) events.record(unavailableLoadBalancer(service));
  for (const { field, message } of ignored) events.record(featureIgnored(service, field, message));

  const answer = isEnsure ? await ensure(plan, deps, context) : await updateNodes(plan, deps, context);
  switch (answer) {
    case "notFound":
      // Class R: at once and one time. A read could still show what is gone.
      records.commit(context.key, { kind: "notFound", nowMs: deps.clock.monotonicMs() });
      return applyChange(recreated(plan), deps, context);
    case "refused":
      // What stands is kept up all the same; the refusal is told then.
      return requeueAfter(0);
    case "notResponsible":
      records.commit(context.key, { kind: "changeDeclined", service, bootID: bootIDOf(plan, deps) });
      await removeReadiness(service, deps, context);
      return DONE;
    default:
      return conclude(plan, answer, deps, context);
  }
}

/** What the provider's answer means: it is done, goes on, or has failed for good. */
async function conclude(
  plan: Change,
  answer: LoadBalancerChange,
  deps: ApplyDependencies,
  context: ReconcileContext,
): Promise<Result> {
  const { service, purpose, desired } = plan;
  const { events, records, clock } = deps;
  recordChange(plan, deps, context.key);
  for (const diagnostic of answer.diagnostics) events.record(diagnosed(service, diagnostic));
  if (answer.loadBalancer === undefined) {
    throw new LoadBalancerSyncError("the provider answered without a load balancer");
  }
  const progress = progressOf(plan, answer.loadBalancer);
  switch (progress.kind) {
    case "failed":
      records.commit(context.key, { kind: "changeFailed", nowMs: clock.monotonicMs() });
      throw new LoadBalancerSyncError(progress.message, { reason: "LoadBalancerFailed" });
    case "pending":
      return poll(service, progress.present, deps, context);
    case "done":
      return finish(service, progress.present, { purpose, nodeCount: desired.nodes.count }, deps, context);
    default:
      return progress satisfies never;
  }
}

/** The load balancer is not there to be updated; or it stands and will not become what is wished; or the Service is somebody else's, by what its annotations say. */
type Declined = "notFound" | "notResponsible" | "refused";

async function ensure(
  plan: Change,
  deps: Calling & Pick<ApplyDependencies, "isMeanwhile" | "clock">,
  context: ReconcileContext,
): Promise<LoadBalancerChange | Declined> {
  try {
    return await callEnsure(plan, deps, context);
  } catch (error) {
    if (hasReason(error, "NOT_RESPONSIBLE")) return "notResponsible";
    const message = `failed to ensure load balancer: ${describe(error)}`;
    if (isOfClass(error, "FINAL") && deps.isMeanwhile !== true && recordRefusal(plan, error, message, deps, context))
      return "refused";
    throw new LoadBalancerSyncError(message, { cause: error });
  }
}

/** True: there is a load balancer of an earlier wish. */
function recordRefusal(
  plan: Change,
  error: ProviderError,
  message: string,
  deps: Pick<ApplyDependencies, "records" | "clock" | "providers">,
  { key }: ReconcileContext,
): boolean {
  const { service, inForce } = plan;
  const { records, clock } = deps;
  const nowMs = clock.monotonicMs();
  const untilMs = nowMs + (retryDelayMs(error, 1) ?? 0);
  const rejection = { service, bootID: bootIDOf(plan, deps), message, untilMs };
  records.commit(key, { kind: "changeRejected", rejection, inForce, nowMs });
  return inForce !== undefined;
}

function bootIDOf({ provider }: Change, deps: Pick<ApplyDependencies, "providers">): string {
  return providerNamed(deps, provider).info?.bootId ?? "";
}

/** The same wish for a load balancer that is not there. */
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

async function callEnsure(plan: Change, deps: Calling, context: ReconcileContext): Promise<LoadBalancerChange> {
  const { service, desired, operationId, acknowledgedNodes } = plan;
  const provider = providerNamed(deps, plan.provider);
  const hint = operationId === undefined || operationId === "" ? {} : { operationId };
  const { spec } = desired;
  if (spec === undefined) {
    throw new LoadBalancerSyncError(
      "the load balancer of an earlier wish is gone, and what that wish was is not known",
    );
  }
  const input = { service: serviceRef(service), ...desired, spec, acknowledgedNodes, ...hint };
  const options = changeOptions(plan, deps, context);
  return deps.gate.run(provider, context, plan.inForce?.lockKey, () =>
    provider.client.ensureLoadBalancer(input, options),
  );
}

/** Only the nodes are new. Says so by events of its own, and counts. */
async function updateNodes(
  plan: Change,
  deps: Calling & Pick<ApplyDependencies, "metrics" | "clock" | "events">,
  context: ReconcileContext,
): Promise<LoadBalancerChange | Declined> {
  const { metrics, clock, events } = deps;
  const startMs = clock.monotonicMs();
  metrics.loadBalancerSyncs.inc();
  try {
    return await (plan.call === "updateNodes" ? callUpdate(plan, deps, context) : callEnsure(plan, deps, context));
  } catch (error) {
    if (hasReason(error, "LOAD_BALANCER_NOT_FOUND")) return "notFound";
    if (hasReason(error, "NOT_RESPONSIBLE")) return "notResponsible";
    if (isQuiet(error, context)) throw error;
    metrics.nodeSyncErrors.inc();
    events.record(updateLoadBalancerFailed(plan.service, nodeNames(plan), failureText(error)));
    throw new LoadBalancerSyncError(`failed to update load balancer hosts: ${describe(error)}`, {
      cause: error,
      isReported: true,
    });
  } finally {
    metrics.updateHostLatencySeconds.observe((clock.monotonicMs() - startMs) / 1000);
  }
}

function callUpdate(plan: Change, deps: Calling, context: ReconcileContext): Promise<LoadBalancerChange> {
  const provider = providerNamed(deps, plan.provider);
  const ref = loadBalancerRef(plan.service, provider.info, plan.loadBalancerId, plan.operationId);
  const options = changeOptions(plan, deps, context);
  const update = () => provider.client.updateLoadBalancerNodes({ ...ref, nodes: plan.desired.nodes }, options);
  return deps.gate.run(provider, context, plan.inForce?.lockKey, update);
}

/** Recorded before the call, because its answer may be lost. */
function changeOptions(
  { service, provider, call, desired, trigger }: Change,
  { records, newId }: Pick<ApplyDependencies, "records" | "newId">,
  { key, signal, priority }: ReconcileContext,
): ChangeOptions {
  const { specFingerprint, nodes, adoptLoadBalancerId = "" } = desired;
  const intent = [service.metadata.uid, call, specFingerprint, nodes.fingerprint, adoptLoadBalancerId].join(" ");
  const requestID = openRequestID(records.get(key), intent) ?? newId();
  records.commit(key, { kind: "changeRequested", service, provider, intent, requestID });
  return { signal, priority, requestId: requestID, trigger };
}

function nodeNames({ desired }: Change): readonly string[] {
  const { source } = desired.nodes;
  return source.kind === "inline" ? source.nodes.map(({ name }) => name) : [];
}

/** What a read of the cloud, for which a sweep gave reason, has come to. */
export function recordInspection(
  service: Service,
  { provider }: Present,
  inspection: Inspection,
  {
    records,
    pace,
    clock,
    events,
    metrics,
  }: Pick<ApplyDependencies, "records" | "pace" | "clock" | "events" | "metrics">,
  { key, log }: ReconcileContext,
): void {
  if (inspection.kind === "left") {
    const { drift, decision } = inspection;
    const { what, kind } = drift;
    log.debug(2, "Found load balancer drift; repair is deferred", { detail: what, decision });
    metrics.drifts.inc({ provider, kind, action: decision === "suspended" ? "suspended" : "deferred" });
    const isNew = records.get(key)?.drift.suspended === undefined;
    if (decision === "suspended" && isNew) events.record(driftNotRepaired(service, what));
  }
  records.commit(key, { kind: "inspected", inspection, nowMs: clock.monotonicMs(), periodMs: pace.periodMs });
}

/** Before what somebody else did is undone. */
function reportRepair({ service, drift }: Change, { events }: Pick<ApplyDependencies, "events">): void {
  if (drift !== undefined) events.record(loadBalancerDrifted(service, drift.what));
}

/** After the provider has taken the change: another wish puts an end to what was known of drifts. */
function recordChange(
  { provider, purpose, drift }: Change,
  { records, clock, metrics }: Pick<ApplyDependencies, "records" | "clock" | "metrics">,
  key: string,
): void {
  if (drift !== undefined) {
    metrics.drifts.inc({ provider, kind: drift.kind, action: "repaired" });
    records.commit(key, { kind: "repaired", nowMs: clock.monotonicMs() });
  } else if (purpose === "ensure") {
    records.commit(key, { kind: "driftSuperseded" });
  }
}
