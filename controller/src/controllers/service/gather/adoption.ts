import { keyOf } from "../../../api/meta.ts";
import { loadBalancerToAdopt, type Service } from "../../../api/service.ts";
import type { LoadBalancerAnswer } from "../../../provider/load-balancer.ts";
import type { ReconcileContext } from "../../../runtime/reconciler.ts";
import { LoadBalancerSyncError } from "../errors.ts";
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
  const others = isPossible ? await othersOf(deps, owner, service, loadBalancerId, context) : [];
  return adoption({ loadBalancerId, standingId, isAllowed, isOffered, others });
}

function observedId(observed: LoadBalancerAnswer | undefined): string | undefined {
  return observed?.kind === "present" ? observed.loadBalancer.id : undefined;
}

/** Living Services that have the load balancer, by the cloud's word, or ask for it too. */
async function othersOf(
  { services }: GatherDependencies,
  { provider }: Owner,
  { metadata: { uid } }: Service,
  loadBalancerId: string,
  { signal, priority }: ReconcileContext,
): Promise<readonly string[]> {
  const { items, complete } = await provider.client.listLoadBalancers({ signal, priority });
  if (!complete)
    throw new LoadBalancerSyncError("whose the load balancer is cannot be told: the provider's list is not complete");
  const holder = items.find(({ id }) => id === loadBalancerId)?.service.uid;
  return [...services.list()]
    .filter(({ metadata }) => metadata.uid !== uid)
    .filter((other) => other.metadata.uid === holder || asksFor(other, loadBalancerId))
    .map((other) => keyOf(other));
}

function asksFor(service: Service, loadBalancerId: string): boolean {
  return wantsLoadBalancer(service) && !isDeleting(service) && loadBalancerToAdopt(service) === loadBalancerId;
}
