import type { Service } from "../../../api/service.ts";
import type { ProviderInfo } from "../../../provider/model/info.ts";
import type { LoadBalancerAnswer } from "../../../provider/model/load-balancer.ts";
import type { ReconcileContext } from "../../../runtime/reconciler.ts";
import { driftVerdict } from "../plan/drift.ts";
import type { WantedInput } from "../plan/input.ts";
import { NEXT_TRY, type Refusal, refusalOf } from "../plan/refusal.ts";
import { isReadNeeded } from "../plan/standing.ts";
import { type UnsupportedRequest, unsupportedRequests } from "../plan/unsupported.ts";
import { hasFinalizer } from "../predicates.ts";
import type { News } from "../record/news.ts";
import {
  type Drift,
  holderOf,
  isDeclined,
  isUnanswered,
  type Present,
  presentOf,
  rejectionOf,
  type ServiceRecord,
} from "../record/record.ts";
import { gatherAdoption } from "./adoption.ts";
import { leftover, wishOf } from "./desired.ts";
import { loadBalancerRef } from "./load-balancer-ref.ts";
import { type GatherDependencies, type Owner, ownerOf } from "./owner.ts";
import { previousOf } from "./previous.ts";

/** The wish of a Service, and what is known of its load balancer; undefined: it is nobody's here. */
export async function gatherWanted(
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
    previous: previous && leftover(deps, service, previous),
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
