import { type Service, deletionProtection } from "../../../api/service.ts";
import type { ProviderInfo } from "../../../provider/model/info.ts";
import type { LoadBalancerAnswer } from "../../../provider/model/load-balancer.ts";
import type { ReconcileContext } from "../../../runtime/reconciler.ts";
import { driftVerdict } from "../plan/drift.ts";
import { isReadNeeded, NEXT_TRY, refusalOf } from "../plan/progress.ts";
import type { CleanupInput, Input, Refusal, WantedInput, Wish } from "../plan/types.ts";
import { type UnsupportedRequest, unsupportedRequests } from "../plan/unsupported.ts";
import { hasFinalizer, isDeleting, isDeletionProtected, wantsLoadBalancer } from "../predicates.ts";
import { News } from "../record/records.ts";
import {
  type Acknowledged,
  type DeleteOperation,
  type Drift,
  type Present,
  type ServiceRecord,
  hintOf,
  holderOf,
  isDeclined,
  isUnanswered,
  presentOf,
  rejectionOf,
} from "../record/record.ts";
import type { RecordEvent } from "../record/transition.ts";
import { gatherAdoption } from "./adoption.ts";
import { previousToDelete, loadBalancerRef, unprotectedOf, wishOf } from "./desired.ts";
import {
  type GatherDependencies,
  type Owner,
  ownerOf,
  possiblePreviousOf,
  previousOf,
  serverNamed,
  unservedWhy,
} from "./owner.ts";

export interface Gathered {
  /** What was learned of the Service; to be committed before anything is done. */
  readonly news: readonly RecordEvent[];
  /** undefined: nothing here is ours. */
  readonly input: Input | undefined;
}

/** The Service, the wish it stands for, and what is known of its load balancer. */
export async function gather(deps: GatherDependencies, context: ReconcileContext): Promise<Gathered> {
  const news = new News(deps.records.get(context.key));
  const input = await gatherInput(deps, news, context);
  return { news: news.events, input };
}

async function gatherInput(
  deps: GatherDependencies,
  news: News,
  context: ReconcileContext,
): Promise<Input | undefined> {
  const { key } = context;
  const cached = deps.services.get(key);
  const service = cached && deps.ownWrites.latest(cached);
  news.add(service === undefined ? { kind: "serviceAbsent" } : { kind: "serviceSeen", service });
  const left = news.record && abandoned(news.record);
  if (left !== undefined) return left;
  if (service === undefined) return { kind: "absent", key };
  const why = unservedWhy(deps, service, holderOf(news.record));
  if (why !== undefined) return { kind: "unserved", service, why };
  return wantsLoadBalancer(service) && !isDeleting(service)
    ? gatherWanted(deps, news, service, context)
    : gatherCleanup(deps, news, service, context);
}

/** The wish of a Service, and what is known of its load balancer; undefined: it is nobody's here. */
async function gatherWanted(
  deps: GatherDependencies,
  news: News,
  service: Service,
  context: ReconcileContext,
): Promise<WantedInput | undefined> {
  const owner = ownerOf(deps, context, service);
  if (owner === undefined) {
    news.add({ kind: "notOwned" });
    return undefined;
  }
  const { provider, info, loadBalancers } = owner;
  news.add({ kind: "owned", nowMs: deps.clock.monotonicMs() });
  const isKnown = !hasFinalizer(service) || holderOf(news.record) !== undefined;
  const previous = await previousOf(deps, news, provider, isKnown, context);
  const { record } = news;
  if (isDeclined(record, service, info.bootId)) return undefined;
  const present = presentOf(record);
  const wish = wishOf(deps, service, owner, present?.spec);
  const unsupported = unsupportedRequests(service, loadBalancers);
  const refusal = refusalOf(unsupported) ?? refusedBefore(deps, record, service, info);
  const known = {
    service,
    wish,
    present,
    isUnanswered: isUnanswered(record),
    refusal,
    // What is refused is kept up, and not made as wished again: the refusal comes first.
    suspicion: present !== undefined && refusal === undefined ? suspicionOf(deps, record) : undefined,
  };
  // What is being deleted is made again, whatever a read still shows of it.
  const isRead = record?.state.kind !== "deleting" && isReadNeeded(known);
  const observed = isRead ? await read(deps, owner, record, known, context) : undefined;
  const adoption = await gatherAdoption(deps, owner, service, { present, observed }, context);
  return {
    kind: "wanted",
    ...known,
    provider: provider.name,
    wish: { ...wish, ...adoption.wish },
    observed,
    previous: previous && previousToDelete(deps, service, previous),
    unsupported: [...unsupported, ...adoption.problems],
    refusal: refusal ?? adoptionRefusal(adoption.problems),
    updatesNodes: loadBalancers.updateNodes,
  };
}

/** What stands in the way may go without a change of the Service or the provider. */
const ADOPTION_RETRY_MS = 60_000;

function adoptionRefusal(problems: readonly UnsupportedRequest[]): Refusal | undefined {
  const refusal = refusalOf(problems);
  return refusal && { ...refusal, retryAfterMs: ADOPTION_RETRY_MS, nextTry: `${NEXT_TRY}, or after a minute` };
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
    nextTry: `${NEXT_TRY}, or after 30 minutes`,
  };
}

/** undefined: no sweep gave reason to read the load balancer. */
function suspicionOf(
  { clock, pace }: Pick<GatherDependencies, "clock" | "pace">,
  record: ServiceRecord | undefined,
): WantedInput["suspicion"] {
  if (record?.drift.suspected !== true) return undefined;
  const { repairs } = record.drift;
  const verdict = (kind: Drift["kind"]) => driftVerdict(kind, repairs, clock.monotonicMs(), pace.periodMs);
  return { vanished: verdict("vanished"), changed: verdict("changed") };
}

async function read(
  { lister }: Pick<GatherDependencies, "lister">,
  { provider, info }: Owner,
  record: ServiceRecord | undefined,
  { service, present }: { readonly service: Service; readonly present: Present | undefined },
  context: ReconcileContext,
): Promise<LoadBalancerAnswer> {
  const { signal, priority } = context;
  if (record?.state.kind === "unknown") {
    const found = await lister.find(provider, record.uid, record.state.sinceMs, context);
    if (found?.kind === "present") return { kind: "present", loadBalancer: found.loadBalancer, diagnostics: [] };
  }
  const ref = loadBalancerRef(service, info, present?.loadBalancerID, present?.operation?.id);
  return provider.client.getLoadBalancer(ref, { signal, priority });
}

/** What a Service without use for a load balancer leaves to be done; undefined: nothing of ours. */
async function gatherCleanup(
  deps: GatherDependencies,
  news: News,
  service: Service,
  context: ReconcileContext,
): Promise<CleanupInput | undefined> {
  const { record } = news;
  const holder = holderOf(record)?.provider;
  if (holder === undefined && !isOurs(record, service)) return undefined;
  const owner = holder === undefined ? ownerOf(deps, context, service) : serverNamed(deps, holder);
  const provider = holder ?? owner?.provider.name;
  if (provider === undefined) return undefined;
  news.add({ kind: "owned", nowMs: deps.clock.monotonicMs() });
  const previous = owner && (await possiblePreviousOf(deps, news, owner.provider, holder !== undefined, context));
  const hint = hintOf(record);
  return {
    kind: "cleanup",
    service,
    isGone: false,
    provider,
    loadBalancerId: hint?.loadBalancerID,
    deletion: deletionOf(record),
    previous: previous && previousToDelete(deps, service, previous),
    upkeep: isKeptUp(service) ? await gatherWanted(deps, news, service, context) : undefined,
    unprotected: owner && unprotectedWish(deps, service, owner, hint?.spec),
  };
}

/** As {@link gatherCleanup}, for a Service that is gone, or whose name another one has: the load balancer was the earlier one's. */
function abandoned(record: ServiceRecord): CleanupInput | undefined {
  const holder = holderOf(record);
  if (holder === undefined || !record.isDeleted) return undefined;
  const { provider, sent } = holder;
  const { lastSeen } = record;
  // Whether it may go is the last word's; what it was made from is what was sent.
  const service = isDeletionProtected(lastSeen) === isDeletionProtected(sent) ? sent : lastSeen;
  const loadBalancerId = hintOf(record)?.loadBalancerID;
  const [previous] = record.previous;
  const gone = { isGone: true, upkeep: undefined, unprotected: undefined } as const;
  return { kind: "cleanup", service, provider, loadBalancerId, deletion: deletionOf(record), previous, ...gone };
}

/** The deletion that was accepted, whatever was requested since. */
function deletionOf(record: ServiceRecord | undefined): DeleteOperation | undefined {
  return record?.state.kind === "deleting" ? record.state.progress.operation : undefined;
}

/** Something of it may be left. A Service that gives up its type loses its class too; the finalizer is shared by controllers of all classes. */
function isOurs(record: ServiceRecord | undefined, service: Service): boolean {
  return wantsLoadBalancer(service)
    ? hasFinalizer(service) || record?.state.kind !== "gone"
    : hasFinalizer(service) && record?.state.kind !== "foreign";
}

/** It must not go, and can serve meanwhile. */
function isKeptUp(service: Service): boolean {
  return isDeletionProtected(service) && wantsLoadBalancer(service) && hasFinalizer(service);
}

/** The last wish without protection at the cloud, where its user takes that back or this process has asked for it. */
function unprotectedWish(
  deps: Pick<GatherDependencies, "providers" | "targets" | "settings">,
  service: Service,
  owner: Owner,
  requested: Acknowledged["spec"],
): Wish | undefined {
  if (!owner.loadBalancers.deletionProtection || isDeletionProtected(service)) return undefined;
  if (deletionProtection(service) === undefined && requested?.deletionProtection === undefined) return undefined;
  const wish = wishOf(deps, service, owner, requested);
  return unprotectedOf(wish, requested ?? wish.spec);
}
