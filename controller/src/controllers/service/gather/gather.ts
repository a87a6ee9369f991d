import { keyOf } from "../../../api/meta.ts";
import { type Service, deletionProtection, loadBalancerToAdopt } from "../../../api/service.ts";
import { serviceRef } from "../../../provider/convert/service.ts";
import type { ProviderInfo } from "../../../provider/model/info.ts";
import type { LoadBalancerCheck, LoadBalancerResult } from "../../../provider/model/load-balancer.ts";
import type { ReadableProvider } from "../../../provider/model/provider.ts";
import type { ReconcileContext } from "../../../runtime/reconciler.ts";
import { LoadBalancerSyncError } from "../failure.ts";
import { type Adoption, NO_ADOPTION, adoption } from "../plan/adoption.ts";
import { driftDecision } from "../plan/drift.ts";
import { immutableChanges } from "../plan/immutable.ts";
import { isCheckNeeded, isReadNeeded } from "../plan/plan.ts";
import type { CleanupInput, Input, EnsureInput, DesiredLoadBalancer } from "../plan/types.ts";
import {
  NEXT_TRY,
  type Refusal,
  type UnsupportedRequest,
  refusalOf,
  unsupportedRequests,
} from "../plan/unsupported.ts";
import { hasFinalizer, isDeleting, isDeletionProtected, wantsLoadBalancer } from "../predicates.ts";
import {
  type Acknowledged,
  type DeleteOperation,
  type Drift,
  type Present,
  type ServiceRecord,
  hintOf,
  currentProviderOf,
  isDeclined,
  isUnanswered,
  presentOf,
  rejectionOf,
} from "../record/record.ts";
import { News } from "../record/records.ts";
import type { RecordEvent } from "../record/transition.ts";
import { type DesiredWithSpec, loadBalancerRef, previousToDelete, withoutProtection, desiredOf } from "./desired.ts";
import {
  type GatherDependencies,
  type Gathering,
  type Owner,
  ownerOf,
  previousOf,
  serverNamed,
  unservedWhy,
} from "./owner.ts";

export interface Gathered {
  /** Must be committed before the plan is applied. */
  readonly news: readonly RecordEvent[];
  /** undefined: the Service does not belong to this controller. */
  readonly input: Input | undefined;
}

export async function gather(deps: GatherDependencies, context: ReconcileContext): Promise<Gathered> {
  const news = new News(deps.records.get(context.key));
  const input = await gatherInput({ ...deps, context, news });
  return { news: news.events, input };
}

async function gatherInput(run: Gathering): Promise<Input | undefined> {
  const { news } = run;
  const { key } = run.context;
  const cached = run.services.get(key);
  const service = cached && run.ownWrites.latest(cached);
  learnOf(service, news);
  const left = news.record && abandoned(news.record);
  if (left !== undefined) return left;
  if (service === undefined) return { kind: "absent", key };
  const why = unservedWhy(run, service, currentProviderOf(news.record));
  if (why !== undefined) return { kind: "unserved", service, why };
  return wantsLoadBalancer(service) && !isDeleting(service) ? gatherEnsure(run, service) : gatherCleanup(run, service);
}

function learnOf(service: Service | undefined, news: News): void {
  const { record } = news;
  if (service === undefined) {
    news.add({ kind: "serviceAbsent" });
    return;
  }
  if (record?.isDeleted === true && record.uid === service.metadata.uid)
    news.add({ kind: "serviceRestored", deleted: record.lastSeen });
  news.add({ kind: "serviceSeen", service });
}

/** undefined: no provider here owns the Service. */
async function gatherEnsure(run: Gathering, service: Service): Promise<EnsureInput | undefined> {
  const { news } = run;
  const owner = ownerOf(run, service);
  if (owner === undefined) {
    news.add({ kind: "notOwned" });
    return undefined;
  }
  const { provider, info, loadBalancers } = owner;
  news.add({ kind: "owned", nowMs: run.clock.monotonicMs() });
  const isKnown = !hasFinalizer(service) || currentProviderOf(news.record) !== undefined;
  const previous = await previousOf(run, provider, { isNeeded: true, isKnown });
  const { record } = news;
  if (isDeclined(record, service, info.bootId)) return undefined;
  const present = presentOf(record);
  const desired = desiredOf(run, service, owner, present?.spec);
  const unsupported = [
    ...unsupportedRequests(service, loadBalancers),
    ...(present === undefined ? [] : immutableChanges(present.service, service, info.annotations)),
  ];
  const refusal = refusalOf(unsupported) ?? refusedBefore(run, record, service, info);
  const known = {
    service,
    desired,
    present,
    isUnanswered: isUnanswered(record),
    nowMs: run.clock.monotonicMs(),
    refusal,
    // While the spec is rejected, drift is not repaired.
    suspicion: present !== undefined && refusal === undefined ? suspicionOf(run, record) : undefined,
  };
  const isGoing = isPresumedGone(record, refusal);
  const isRead = isReadNeeded(known) && (!isGoing || loadBalancerToAdopt(service) !== undefined);
  const seen = isRead ? await look(run, owner, known) : NOT_SEEN;
  const adoption = await gatherAdoption(run, owner, service, { present, observed: seen.observed });
  return {
    kind: "ensure",
    ...known,
    provider: provider.name,
    desired: { ...desired, ...adoption.desired },
    ...(isGoing ? NOT_SEEN : seen),
    previous: previous && previousToDelete(run, service, previous),
    unsupported: [...unsupported, ...adoption.problems],
    refusal: refusal ?? adoptionRefusal(adoption.problems),
    updatesNodes: loadBalancers.updateNodes,
  };
}

/**
 * A load balancer that is being deleted is created again, whatever a read still returns. While the desired state is refused, it is kept
 * current unless the provider has accepted the deletion.
 */
function isPresumedGone(record: ServiceRecord | undefined, refusal: Refusal | undefined): boolean {
  return record?.state.kind === "deleting" && (refusal === undefined || deletionOf(record) !== undefined);
}

/** Adoption may become possible without a change of the Service or the provider. */
const ADOPTION_RETRY_MS = 60_000;

function adoptionRefusal(problems: readonly UnsupportedRequest[]): Refusal | undefined {
  const refusal = refusalOf(problems);
  return refusal && { ...refusal, retryAfterMs: ADOPTION_RETRY_MS, nextTry: `${NEXT_TRY}, or in 1 minute` };
}

function refusedBefore(
  { clock }: Pick<GatherDependencies, "clock">,
  record: ServiceRecord | undefined,
  service: Service,
  { bootId }: ProviderInfo,
): Refusal | undefined {
  const nowMs = clock.monotonicMs();
  const rejection = rejectionOf(record, service, bootId, nowMs);
  if (rejection === undefined) return undefined;
  return {
    message: rejection.message,
    retryAfterMs: rejection.untilMs - nowMs,
    nextTry: `${NEXT_TRY}, or in 30 minutes`,
  };
}

function suspicionOf(
  { clock, pace }: Pick<GatherDependencies, "clock" | "pace">,
  record: ServiceRecord | undefined,
): EnsureInput["suspicion"] {
  if (record?.drift.suspected !== true) return undefined;
  const { repairs } = record.drift;
  const decision = (kind: Drift["kind"]) => driftDecision(kind, repairs, clock.monotonicMs(), pace.periodMs);
  return { missing: decision("missing"), changed: decision("changed") };
}

const NOT_SEEN = { observed: undefined, check: undefined } as const;

async function look(
  run: Gathering,
  owner: Owner,
  known: Pick<EnsureInput, "service" | "present" | "suspicion"> & { readonly desired: DesiredWithSpec },
): Promise<Pick<EnsureInput, "observed" | "check">> {
  return isCheckNeeded(known)
    ? { observed: undefined, check: await checkLoadBalancer(run, owner, known) }
    : { observed: await read(run, owner, known), check: undefined };
}

/** Compares the cloud objects with the desired state, which a read could not: their fingerprint of that state is not known. */
function checkLoadBalancer(
  { context: { signal, priority } }: Gathering,
  { provider }: { readonly provider: ReadableProvider },
  { service, desired, present }: Pick<EnsureInput, "service" | "present"> & { readonly desired: DesiredWithSpec },
): Promise<LoadBalancerCheck> {
  const options = { signal, priority, lockKey: present?.lockKey };
  return provider.client.checkLoadBalancer({ service: serviceRef(service), ...desired }, options);
}

async function read(
  { lister, context, news: { record } }: Gathering,
  { provider, info }: Pick<Owner, "info"> & { readonly provider: ReadableProvider },
  { service, present }: { readonly service: Service; readonly present: Present | undefined },
): Promise<LoadBalancerResult> {
  const { signal, priority } = context;
  if (record?.state.kind === "unknown") {
    const found = await lister.find(provider, record.uid, record.state.sinceMs, context);
    if (found?.kind === "present") return { kind: "present", loadBalancer: found.loadBalancer, diagnostics: [] };
  }
  const ref = loadBalancerRef(service, info, present?.loadBalancerID, present?.operation?.id);
  return provider.client.getLoadBalancer(ref, { signal, priority });
}

/** For a Service that needs no load balancer. undefined: nothing to clean up here. */
async function gatherCleanup(run: Gathering, service: Service): Promise<CleanupInput | undefined> {
  const { news } = run;
  const { record } = news;
  const current = currentProviderOf(record)?.provider;
  if (current === undefined && !isOurs(record, service)) return undefined;
  const owner = current === undefined ? ownerOf(run, service) : serverNamed(run, current);
  const provider = current ?? owner?.provider.name;
  if (provider === undefined) return undefined;
  news.add({ kind: "owned", nowMs: run.clock.monotonicMs() });
  const previous =
    owner && (await previousOf(run, owner.provider, { isNeeded: false, isKnown: current !== undefined }));
  const hint = hintOf(record);
  return {
    kind: "cleanup",
    service,
    isGone: false,
    provider,
    loadBalancerId: hint?.loadBalancerID,
    deletion: deletionOf(record),
    previous: previous && previousToDelete(run, service, previous),
    upkeep: isKeptUp(service) ? await gatherEnsure(run, service) : undefined,
    unprotected: owner && desiredWithoutProtection(run, service, owner, hint?.spec),
  };
}

/** For a Service that is gone, even if another one has its name. */
function abandoned(record: ServiceRecord): CleanupInput | undefined {
  const current = currentProviderOf(record);
  if (current === undefined || !record.isDeleted) return undefined;
  const { provider, sent } = current;
  const { lastSeen } = record;
  // The last object decides on deletion protection; otherwise, the spec that was sent counts.
  const service = isDeletionProtected(lastSeen) === isDeletionProtected(sent) ? sent : lastSeen;
  const loadBalancerId = hintOf(record)?.loadBalancerID;
  const [previous] = record.previous;
  const gone = { isGone: true, upkeep: undefined, unprotected: undefined } as const;
  return { kind: "cleanup", service, provider, loadBalancerId, deletion: deletionOf(record), previous, ...gone };
}

/** The accepted deletion, whatever was requested since. */
function deletionOf(record: ServiceRecord | undefined): DeleteOperation | undefined {
  return record?.state.kind === "deleting" ? record.state.progress.operation : undefined;
}

/**
 * A load balancer may exist. A Service that changes its type loses its class too, and controllers of all classes share the finalizer.
 */
function isOurs(record: ServiceRecord | undefined, service: Service): boolean {
  return wantsLoadBalancer(service)
    ? hasFinalizer(service) || record?.state.kind !== "gone"
    : hasFinalizer(service) && record?.state.kind !== "foreign";
}

/** It must not be deleted, and can still serve. */
function isKeptUp(service: Service): boolean {
  return isDeletionProtected(service) && wantsLoadBalancer(service) && hasFinalizer(service);
}

/** The last desired state without protection in the cloud, if the user has removed it or this process has requested it. */
function desiredWithoutProtection(
  deps: Pick<GatherDependencies, "providers" | "targets" | "settings">,
  service: Service,
  owner: Owner,
  requested: Acknowledged["spec"],
): DesiredLoadBalancer | undefined {
  if (!owner.loadBalancers.deletionProtection || isDeletionProtected(service)) return undefined;
  if (deletionProtection(service) === undefined && requested?.deletionProtection === undefined) return undefined;
  const desired = desiredOf(deps, service, owner, requested);
  return withoutProtection(desired, requested ?? desired.spec);
}

/** Of a list for adoption. Changes of this process since then are in the records. */
const MAX_LIST_AGE_MS = 30_000;

async function gatherAdoption(
  run: Gathering,
  owner: Owner,
  service: Service,
  known: { readonly present: Present | undefined; readonly observed: LoadBalancerResult | undefined },
): Promise<Adoption> {
  const loadBalancerId = loadBalancerToAdopt(service);
  if (loadBalancerId === undefined) return NO_ADOPTION;
  const { namespace } = service.metadata;
  const existingId = known.present?.loadBalancerID ?? observedId(known.observed);
  const isAllowed = run.mayAdopt();
  const isOffered = owner.loadBalancers.adopt && owner.loadBalancers.list !== undefined;
  const isPossible = existingId === undefined && isAllowed && isOffered;
  if (!isPossible) return adoption({ loadBalancerId, existingId, isAllowed, isOffered, namespace, others: [] });
  const { signal, priority, log } = run.context;
  const { items, byUid, complete } = await run.lister.list(owner.provider, MAX_LIST_AGE_MS, { signal, priority });
  if (!complete)
    throw new LoadBalancerSyncError("the owner of the load balancer is unknown: the provider's list is incomplete");
  // A read of the Service alone is newer than the list.
  const listedId = known.observed === undefined ? byUid.get(service.metadata.uid)?.id : undefined;
  const uid = items.find(({ id }) => id === loadBalancerId)?.service.uid;
  const others = othersOf(run, owner, service, { loadBalancerId, uid });
  if (others.length > 0) log.debug(2, "Load balancer to adopt is used or requested", { loadBalancerId, others });
  return adoption({ loadBalancerId, existingId: listedId, isAllowed, isOffered, namespace, others });
}

function observedId(observed: LoadBalancerResult | undefined): string | undefined {
  return observed?.kind === "present" ? observed.loadBalancer.id : undefined;
}

/**
 * Keys of other Services that have or request the load balancer. A deleted Service has it until its deletion is complete: a Service
 * that adopted it before would lose it.
 */
function othersOf(
  { services, records }: Pick<GatherDependencies, "services" | "records">,
  { provider }: Owner,
  service: Service,
  { loadBalancerId, uid }: { readonly loadBalancerId: string; readonly uid: string | undefined },
): readonly string[] {
  const living = [...services.list()]
    .filter(({ metadata }) => metadata.uid !== service.metadata.uid)
    .filter((other) => other.metadata.uid === uid || asksFor(other, loadBalancerId))
    .map((other) => keyOf(other));
  const wanted = { provider: provider.name, loadBalancerId, uid };
  const known = [...records.list()].filter(([, record]) => mayHave(record, wanted)).map(([key]) => key);
  return [...new Set([...living, ...known])].filter((key) => key !== keyOf(service));
}

/** By load balancer ID, or by the UID in the cloud. */
function mayHave(
  record: ServiceRecord,
  wanted: { readonly provider: string; readonly loadBalancerId: string; readonly uid: string | undefined },
): boolean {
  const current = currentProviderOf(record);
  if (current === undefined) return false;
  const isSame = current.provider === wanted.provider && hintOf(record)?.loadBalancerID === wanted.loadBalancerId;
  return isSame || record.uid === wanted.uid;
}

function asksFor(service: Service, loadBalancerId: string): boolean {
  return wantsLoadBalancer(service) && !isDeleting(service) && loadBalancerToAdopt(service) === loadBalancerId;
}
