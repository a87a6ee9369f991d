import { keyOf } from "../../../api/meta.ts";
import { loadBalancerToAdopt, type Service } from "../../../api/service.ts";
import type { LoadBalancerAnswer } from "../../../provider/model/load-balancer.ts";
import type { ReconcileContext } from "../../../runtime/reconciler.ts";
import type { Entry } from "../ledger.ts";
import { type Adoption, adoption, NO_ADOPTION } from "../plan/adoption.ts";
import { isDeleting, wantsLoadBalancer } from "../predicates.ts";
import type { GatherDependencies } from "./dependencies.ts";
import type { Owner } from "./owner.ts";

/** What becomes of a Service's wish for a load balancer that exists. */
export async function gatherAdoption(
  deps: GatherDependencies,
  owner: Owner,
  service: Service,
  known: { readonly entry: Entry | undefined; readonly observed: LoadBalancerAnswer | undefined },
  context: ReconcileContext,
): Promise<Adoption> {
  const loadBalancerId = loadBalancerToAdopt(service);
  if (loadBalancerId === undefined) return NO_ADOPTION;
  const standingId = known.entry?.loadBalancerId ?? observedId(known.observed);
  const isAllowed = deps.mayAdopt();
  const isOffered = owner.loadBalancers.adopt && owner.loadBalancers.list !== undefined;
  const isPossible = standingId === undefined && isAllowed && isOffered;
  if (!isPossible) return adoption({ loadBalancerId, standingId, isAllowed, isOffered, others: [] });
  const { signal, priority } = context;
  const uids = await deps.holders.of(owner.provider, owner.info, { signal, priority });
  // What was read of the Service alone is younger than the list.
  const listedId = known.observed === undefined ? idOf(uids, service.metadata.uid) : undefined;
  const others = othersOf(deps, owner, service, { loadBalancerId, uid: uids.get(loadBalancerId) });
  return adoption({ loadBalancerId, standingId: listedId, isAllowed, isOffered, others });
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
  { services, ledger }: GatherDependencies,
  { provider }: Owner,
  service: Service,
  { loadBalancerId, uid }: { readonly loadBalancerId: string; readonly uid: string | undefined },
): readonly string[] {
  const living = [...services.list()]
    .filter(({ metadata }) => metadata.uid !== service.metadata.uid)
    .filter((other) => other.metadata.uid === uid || asksFor(other, loadBalancerId))
    .map((other) => keyOf(other));
  const known = ledger.holdersOf({ provider: provider.name, loadBalancerId, uid });
  return [...new Set([...living, ...known])].filter((key) => key !== keyOf(service));
}

function asksFor(service: Service, loadBalancerId: string): boolean {
  return wantsLoadBalancer(service) && !isDeleting(service) && loadBalancerToAdopt(service) === loadBalancerId;
}
