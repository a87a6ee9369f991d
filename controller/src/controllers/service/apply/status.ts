import type { EventInput } from "../../../api/event.ts";
import { keyOf } from "../../../api/meta.ts";
import type { Service } from "../../../api/service.ts";
import type { Lister } from "../../../kube/cache/lister.ts";
import type { OwnWrites } from "../../../kube/cache/store.ts";
import type { JsonObject, KubeClient } from "../../../kube/client.ts";
import { isApiError } from "../../../kube/errors.ts";
import type { EventRecorder } from "../../../kube/events/broadcaster.ts";
import { SERVICES } from "../../../kube/resources/service.ts";
import type { ChangeableProvider, ProviderSet } from "../../../provider/model/provider.ts";
import { DONE, type ReconcileContext, type Result, type Why, requeueAfter } from "../../../runtime/reconciler.ts";
import type { Clock, Random } from "../../../util/clock.ts";
import { LoadBalancerSyncError, describe } from "../failure.ts";
import { ensuredLoadBalancer, unavailableLoadBalancer, updatedLoadBalancer } from "../events.ts";
import type { CheckPace } from "../check-pace.ts";
import type { DriftPace } from "../gather/owner.ts";
import type { ServiceMetrics } from "../metrics.ts";
import { DEFAULT_POLL_MS } from "../plan/plan.ts";
import { retryAtMs } from "../plan/unregistered.ts";
import {
  type Readiness,
  type StatusPatch,
  driftNotRepaired,
  ingressPatch,
  readinessItems,
  readinessOf,
  reportedReadiness,
  withConditions,
  withoutReadiness,
} from "../plan/status.ts";
import { isDeletionProtected, needsUpdate } from "../predicates.ts";
import { type Operation, openRequestID, type Present } from "../record/record.ts";
import type { Records } from "../record/records.ts";

/** Random share of a poll interval: load balancers that were created together are not polled together. */
const POLL_JITTER = 0.2;

export type StatusWriting = Pick<ApplyDependencies, "conditions" | "kube" | "ownWrites" | "context">;

/** The load balancer matches the desired state: records, reports and publishes it. */
export async function finish(
  service: Service,
  present: Present,
  finished: { readonly purpose: Operation["purpose"] | undefined; readonly nodeCount: number },
  deps: ApplyDependencies,
): Promise<Result> {
  const kind = finished.purpose === undefined ? "read" : "changeCompleted";
  const record = deps.records.commit(deps.context.key, { kind, present });
  const event = present.unregistered === undefined ? finishedEvent(service, finished) : undefined;
  if (event !== undefined) deps.events.record(event);
  const drift = record?.drift.suspended;
  const readiness = drift === undefined ? readinessOf(service, present, finished.nodeCount) : driftNotRepaired(drift);
  const isPublished = await publish(service, present, readiness, deps);
  if (present.unregistered !== undefined) {
    const { message } = readiness ?? { message: "" };
    const delayMs = Math.max(0, retryAtMs(present.unregistered) - deps.clock.monotonicMs());
    return requeueAfter(delayMs, { reason: "NodesNotRegistered", message });
  }
  // Now that the address is published, the previous load balancer can be deleted, unless the current spec is rejected.
  const isLast = (deps.records.get(deps.context.key)?.previous.length ?? 0) === 0;
  const isLastStep = !isPublished || isLast || deps.isMeanwhile === true || isDeletionProtected(service);
  return isLastStep ? DONE : requeueAfter(0);
}

function finishedEvent(
  service: Service,
  { purpose, nodeCount }: { readonly purpose: Operation["purpose"] | undefined; readonly nodeCount: number },
): EventInput | undefined {
  if (purpose === undefined) return undefined;
  if (purpose === "ensure") return ensuredLoadBalancer(service);
  return nodeCount === 0 ? unavailableLoadBalancer(service) : updatedLoadBalancer(service);
}

/** The load balancer is compared with the desired state soon, but not at the same time as all others. */
export function requestCheck({ records, checks, context: { key } }: ApplyDependencies): void {
  records.commit(key, { kind: "suspected", delayMs: checks.delayMs() });
}

export async function poll(service: Service, present: Present, deps: ApplyDependencies): Promise<Result> {
  deps.records.commit(deps.context.key, { kind: "changeAccepted", present });
  await publish(service, present, readinessOf(service, present, 0), deps);
  return again(present.operation?.pollAfterMs, deps);
}

/** False: the Service is gone. */
async function publish(
  service: Service,
  { ingress }: Present,
  readiness: Readiness | undefined,
  deps: StatusWriting,
): Promise<boolean> {
  const address = ingress === undefined ? undefined : ingressPatch(service, ingress);
  const body = withReadiness(service, address, readiness, deps);
  return body === undefined || patch("update load balancer status", service, body, deps);
}

/** Writes the condition alone. */
export async function report(service: Service, readiness: Readiness, deps: StatusWriting): Promise<void> {
  const body = withReadiness(service, undefined, readiness, deps);
  if (body !== undefined) await patch("update load balancer condition", service, body, deps);
}

/** The load balancer belongs to another controller. */
export async function removeReadiness(service: Service, deps: ApplyDependencies): Promise<void> {
  const body = withConditions(service, undefined, withoutReadiness(deps.ownWrites.newest(service)));
  if (body !== undefined) await patch("remove load balancer condition", service, body, deps);
}

function withReadiness(
  service: Service,
  body: StatusPatch | undefined,
  readiness: Readiness | undefined,
  { conditions, ownWrites }: StatusWriting,
): StatusPatch | undefined {
  const items = readiness && conditions.items(ownWrites.newest(service), readiness);
  return withConditions(service, body, items);
}

/**
 * Comes before every change of the cloud, or a load balancer could outlive its Service. `readiness` is written along, but causes no write
 * of its own. False: the Service is gone.
 */
export async function addFinalizer(
  service: Service,
  finalizer: StatusPatch | undefined,
  readiness: Readiness | undefined,
  deps: StatusWriting,
): Promise<boolean> {
  if (finalizer === undefined) return true;
  const body = withReadiness(service, finalizer, readiness, deps) ?? finalizer;
  return patch("add load balancer cleanup finalizer", service, body, deps, true);
}

export function again(pollAfterMs: number | undefined, { random }: ApplyDependencies, why?: Why): Result {
  return requeueAfter((pollAfterMs ?? DEFAULT_POLL_MS) * (1 + POLL_JITTER * (random() - 0.5)), why);
}

/** False: the Service is gone; another reconcile cleans up. */
export async function patch(
  what: string,
  service: Service,
  body: JsonObject,
  { kube, ownWrites, context: { signal } }: StatusWriting,
  isFirstOfMore = false,
): Promise<boolean> {
  const { namespace, name } = service.metadata;
  const options = { signal, subresource: "status", isFirstOfMore };
  try {
    ownWrites.note(service, await kube.patch(SERVICES, { namespace, name }, { kind: "strategic", body }, options));
    return true;
  } catch (error) {
    if (isApiError(error, "notFound")) return false;
    throw new LoadBalancerSyncError(`failed to ${what}: ${describe(error)}`, { cause: error });
  }
}

export interface ApplyDependencies {
  /** Of the running reconcile. */
  readonly context: ReconcileContext;
  readonly kube: Pick<KubeClient, "patch">;
  readonly services: Lister<Service>;
  readonly providers: Pick<ProviderSet, "providers">;
  readonly events: EventRecorder;
  readonly metrics: ServiceMetrics;
  readonly records: Records;
  /** A new ID for each intended change of a load balancer. */
  readonly newId: () => string;
  readonly ownWrites: OwnWrites<Service>;
  readonly pace: DriftPace;
  readonly checks: Pick<CheckPace, "delayMs">;
  readonly conditions: Conditions;
  /** The plan is for the load balancer in force and not for the current spec, which a rejection would not concern. */
  readonly isMeanwhile?: boolean;
  readonly clock: Clock;
  readonly random: Random;
}

export function providerNamed({ providers }: Pick<ApplyDependencies, "providers">, name: string): ChangeableProvider {
  const provider = providers.providers.find((candidate) => candidate.name === name);
  if (provider === undefined) throw new LoadBalancerSyncError(`there is no provider named ${name}`);
  return provider;
}

/**
 * Records a request before the call, because the response may be lost. Returns the request ID: that of the open request with the same
 * intent, or a new one.
 */
export function openRequest(
  kind: "changeRequested" | "deleteRequested",
  request: { readonly service: Service; readonly provider: string; readonly intent: string },
  { records, newId, context: { key } }: ApplyDependencies,
): string {
  const requestID = openRequestID(records.get(key), request.intent) ?? newId();
  records.commit(key, { kind, ...request, requestID });
  return requestID;
}

/** How often a message alone is rewritten: an error text may differ with each retry. */
const REWORD_MS = 300_000;

export interface Conditions {
  /** Items for `status.conditions`; undefined: nothing to write. */
  items(service: Service, wanted: Readiness): readonly JsonObject[] | undefined;
  forget(key: string): void;
}

/** Reports nothing. */
export const MUTED: Conditions = { items: () => undefined, forget: () => undefined };

/** Writes a new status, reason or spec immediately, and a new message at most every {@link REWORD_MS}. */
export class PacedConditions implements Conditions {
  readonly #clock: Clock;
  /** By key; time is monotonic. */
  readonly #written = new Map<string, { readonly atMs: number; readonly service: Service }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  items(service: Service, wanted: Readiness): readonly JsonObject[] | undefined {
    const items = readinessItems(service, wanted, this.#clock.nowMs());
    if (items === undefined) return undefined;
    const key = keyOf(service);
    const nowMs = this.#clock.monotonicMs();
    const reported = reportedReadiness(service);
    const isSame = reported?.status === wanted.status && reported.reason === wanted.reason;
    const last = this.#written.get(key);
    const isPaced = last !== undefined && nowMs - last.atMs < REWORD_MS && !needsUpdate(last.service, service);
    if (isSame && isPaced) return undefined;
    this.#written.set(key, { atMs: nowMs, service });
    return items;
  }

  forget(key: string): void {
    this.#written.delete(key);
  }
}
