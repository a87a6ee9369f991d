import { keyOf } from "../../../api/meta.ts";
import type { Service } from "../../../api/service.ts";
import type { Lister } from "../../../kube/cache/lister.ts";
import type { OwnWrites } from "../../../kube/cache/store.ts";
import type { JsonObject, KubeClient } from "../../../kube/client.ts";
import { isApiError } from "../../../kube/errors.ts";
import type { EventRecorder } from "../../../kube/events/broadcaster.ts";
import { SERVICES } from "../../../kube/resources/service.ts";
import type { ChangeLimiter } from "../../../provider/limits/change-limiter.ts";
import type { Provider, ProviderSet } from "../../../provider/model/provider.ts";
import { DONE, type ReconcileContext, type Result, requeueAfter } from "../../../runtime/reconciler.ts";
import type { Clock, Random } from "../../../util/clock.ts";
import { LoadBalancerSyncError, describe } from "../failure.ts";
import { ensuredLoadBalancer, unavailableLoadBalancer, updatedLoadBalancer } from "../events.ts";
import type { DriftPace } from "../gather/owner.ts";
import type { ServiceMetrics } from "../metrics.ts";
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
import type { Operation, Present } from "../record/record.ts";
import type { Records } from "../record/records.ts";

/** Polls of many load balancers that were made together spread over this share of their interval. */
const POLL_JITTER = 0.2;

/** A deletion that goes on without a word when to ask again. */
const DEFAULT_POLL_MS = 5000;

/** What it takes to write the status of a Service. */
export type StatusWriting = Pick<ApplyDependencies, "conditions" | "kube" | "ownWrites">;

/** The cloud has what is wished: remember it, say it, publish it. */
export async function finish(
  service: Service,
  present: Present,
  finished: { readonly purpose: Operation["purpose"] | undefined; readonly nodeCount: number },
  deps: StatusWriting & Pick<ApplyDependencies, "records" | "events" | "isMeanwhile">,
  context: ReconcileContext,
): Promise<Result> {
  const kind = finished.purpose === undefined ? "read" : "changeCompleted";
  const record = deps.records.commit(context.key, { kind, present });
  if (finished.purpose === "ensure") {
    deps.events.record(ensuredLoadBalancer(service));
  } else if (finished.purpose === "update") {
    deps.events.record(finished.nodeCount === 0 ? unavailableLoadBalancer(service) : updatedLoadBalancer(service));
  }
  const drift = record?.drift.suspended;
  const readiness = drift === undefined ? readinessOf(service, present, finished.nodeCount) : driftNotRepaired(drift);
  const isPublished = await publish(service, present, readiness, deps, context);
  // What a previous provider holds can go, now that the address is published; while another wish stands in the way, it stays.
  const isLast = (deps.records.get(context.key)?.previous.length ?? 0) === 0;
  const isNoMore = !isPublished || isLast || deps.isMeanwhile === true || isDeletionProtected(service);
  return isNoMore ? DONE : requeueAfter(0);
}

/** The cloud is at work: come back when the provider wishes to be asked. */
export async function poll(
  service: Service,
  present: Present,
  deps: StatusWriting & Pick<ApplyDependencies, "records" | "random">,
  context: ReconcileContext,
): Promise<Result> {
  deps.records.commit(context.key, { kind: "changeAccepted", present });
  await publish(service, present, readinessOf(service, present, 0), deps, context);
  return again(present.operation?.pollAfterMs, deps);
}

/** False: the Service is gone. */
async function publish(
  service: Service,
  { ingress }: Present,
  readiness: Readiness | undefined,
  deps: StatusWriting,
  context: ReconcileContext,
): Promise<boolean> {
  const address = ingress === undefined ? undefined : ingressPatch(service, ingress);
  const body = withReadiness(service, address, readiness, deps);
  return body === undefined || patch("update load balancer status", service, body, deps, context);
}

/** Writes the condition alone. */
export async function report(
  service: Service,
  readiness: Readiness,
  deps: StatusWriting,
  context: Pick<ReconcileContext, "signal">,
): Promise<void> {
  const body = withReadiness(service, undefined, readiness, deps);
  if (body !== undefined) await patch("update load balancer condition", service, body, deps, context);
}

/** Says no more of the load balancer: it is somebody else's. */
export async function removeReadiness(
  service: Service,
  deps: Pick<ApplyDependencies, "kube" | "ownWrites">,
  context: ReconcileContext,
): Promise<void> {
  const body = withConditions(service, undefined, withoutReadiness(deps.ownWrites.newest(service)));
  if (body !== undefined) await patch("remove load balancer condition", service, body, deps, context);
}

function withReadiness(
  service: Service,
  body: StatusPatch | undefined,
  readiness: Readiness | undefined,
  { conditions, ownWrites }: Pick<ApplyDependencies, "conditions" | "ownWrites">,
): StatusPatch | undefined {
  const items = readiness && conditions.items(ownWrites.newest(service), readiness);
  return withConditions(service, body, items);
}

/**
 * Before the cloud is asked for anything: whatever it makes must not outlive the Service unseen. `readiness` goes with the same write,
 * and never makes one. False: the Service is gone.
 */
export async function addFinalizer(
  service: Service,
  finalizer: StatusPatch | undefined,
  readiness: Readiness | undefined,
  deps: StatusWriting,
  context: ReconcileContext,
): Promise<boolean> {
  if (finalizer === undefined) return true;
  const body = withReadiness(service, finalizer, readiness, deps) ?? finalizer;
  return patch("add load balancer cleanup finalizer", service, body, deps, context, true);
}

/** Asks to come back when the provider wishes it. */
export function again(pollAfterMs: number | undefined, { random }: Pick<ApplyDependencies, "random">): Result {
  return requeueAfter((pollAfterMs ?? DEFAULT_POLL_MS) * (1 + POLL_JITTER * (random() - 0.5)));
}

/** False: the Service went away meanwhile and needs no patch; what it leaves is another reconcile's. */
export async function patch(
  what: string,
  service: Service,
  body: JsonObject,
  { kube, ownWrites }: Pick<ApplyDependencies, "kube" | "ownWrites">,
  { signal }: Pick<ReconcileContext, "signal">,
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

/** What this step changes things with. */
export interface ApplyDependencies {
  readonly kube: Pick<KubeClient, "patch">;
  readonly services: Pick<Lister<Service>, "get">;
  readonly providers: Pick<ProviderSet, "providers">;
  readonly events: EventRecorder;
  readonly metrics: ServiceMetrics;
  readonly records: Pick<Records, "get" | "commit">;
  /** A new ID for each intended change of a load balancer. */
  readonly newId: () => string;
  readonly gate: ChangeLimiter;
  readonly ownWrites: OwnWrites<Service>;
  readonly pace: DriftPace;
  /** What the Service is told in its condition. */
  readonly conditions: Conditions;
  /** What is done is not what the Service wishes now: a refusal of it says nothing of that wish. */
  readonly isMeanwhile?: boolean;
  readonly clock: Clock;
  readonly random: Random;
}

/** The provider that a plan names. */
export function providerNamed({ providers }: Pick<ApplyDependencies, "providers">, name: string): Provider {
  const provider = providers.providers.find((candidate) => candidate.name === name);
  if (provider === undefined) throw new LoadBalancerSyncError(`no provider is called ${name} any more`);
  return provider;
}

/** Another wording of the same reason is written this often at most: errors may hold what differs from try to try. */
const REWORD_MS = 300_000;

/** What is still to be written of a {@link Readiness}. */
export interface Conditions {
  /** Items for `status.conditions`; undefined: nothing is to be written. */
  items(service: Service, wanted: Readiness): readonly JsonObject[] | undefined;
  /** The Service is gone. */
  forget(key: string): void;
}

/** Nothing is said: somebody else has the word. */
export const MUTED: Conditions = { items: () => undefined, forget: () => undefined };

/** Lets through what changes the meaning of the condition or is about another wish, and seldom what changes only its wording. */
export class PacedConditions implements Conditions {
  readonly #clock: Clock;
  /** By key: when, monotonic, and about which wish. */
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
