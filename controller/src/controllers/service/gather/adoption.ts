import { keyOf } from "../../../api/meta.ts";
import { loadBalancerToAdopt, type Service } from "../../../api/service.ts";
import type { LoadBalancerAnswer } from "../../../provider/model/load-balancer.ts";
import type { ReconcileContext } from "../../../runtime/reconciler.ts";
import { hintOf, holderOf, type Present, type ServiceRecord } from "../record/record.ts";
import { LoadBalancerSyncError } from "../failure.ts";
import { type Adoption, adoption, NO_ADOPTION } from "../plan/adoption.ts";
import { isDeleting, wantsLoadBalancer } from "../predicates.ts";
import type { GatherDependencies, Owner } from "./owner.ts";

/** What this process has done since the list was begun is in its records. */
const MAX_LIST_AGE_MS = 30_000;

/** What becomes of a Service's wish for a load balancer that exists. */
export async function gatherAdoption(
  deps: Pick<GatherDependencies, "services" | "records" | "lister" | "mayAdopt">,
  owner: Owner,
  service: Service,
  known: { readonly present: Present | undefined; readonly observed: LoadBalancerAnswer | undefined },
  context: ReconcileContext,
): Promise<Adoption> {
  const loadBalancerId = loadBalancerToAdopt(service);
  if (loadBalancerId === undefined) return NO_ADOPTION;
  const standingId = known.present?.loadBalancerID ?? observedId(known.observed);
  const isAllowed = deps.mayAdopt();
  const isOffered = owner.loadBalancers.adopt && owner.loadBalancers.list !== undefined;
  const isPossible = standingId === undefined && isAllowed && isOffered;
  if (!isPossible) return adoption({ loadBalancerId, standingId, isAllowed, isOffered, others: [] });
  const uids = await uidsById(deps, owner, context);
  // What was read of the Service alone is younger than the list.
  const listedId = known.observed === undefined ? idOf(uids, service.metadata.uid) : undefined;
  const others = othersOf(deps, owner, service, { loadBalancerId, uid: uids.get(loadBalancerId) });
  return adoption({ loadBalancerId, standingId: listedId, isAllowed, isOffered, others });
}

/** UIDs of Services, by ID of the load balancer that they have by the cloud's word. Throws where some may be missing. */
async function uidsById(
  { lister }: Pick<GatherDependencies, "lister">,
  { provider }: Owner,
  { signal, priority }: ReconcileContext,
): Promise<ReadonlyMap<string, string>> {
  const { items, complete } = await lister.list(provider, MAX_LIST_AGE_MS, { signal, priority });
  if (!complete)
    throw new LoadBalancerSyncError("whose the load balancer is cannot be told: the provider's list is not complete");
  return new Map(items.map(({ id, service }) => [id, service.uid]));
}

function observedId(observed: LoadBalancerAnswer | undefined): string | undefined {
  return observed?.kind === "present" ? observed.loadBalancer.id : undefined;
}

function idOf(uids: ReadonlyMap<string, string>, uid: string): string | undefined {
  return [...uids].find(([, holder]) => holder === uid)?.[0];
}

/**
 * Keys of other Services that have the load balancer, by the cloud's word or by ours, or ask for it too. One that is gone has it until it is taken
 * down: who took it over meanwhile would lose it.
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
  const known = [...records.list()].filter(([, record]) => mayHold(record, wanted)).map(([key]) => key);
  return [...new Set([...living, ...known])].filter((key) => key !== keyOf(service));
}

/** By its ID, or by the UID that the cloud has for it. Services that are gone count, too. */
function mayHold(
  record: ServiceRecord,
  wanted: { readonly provider: string; readonly loadBalancerId: string; readonly uid: string | undefined },
): boolean {
  const holder = holderOf(record);
  if (holder === undefined) return false;
  const isSame = holder.provider === wanted.provider && hintOf(record)?.loadBalancerID === wanted.loadBalancerId;
  return isSame || record.uid === wanted.uid;
}

function asksFor(service: Service, loadBalancerId: string): boolean {
  return wantsLoadBalancer(service) && !isDeleting(service) && loadBalancerToAdopt(service) === loadBalancerId;
}
