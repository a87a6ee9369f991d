import { deletionProtection, type Service } from "../../../api/service.ts";
import type { ReconcileContext } from "../../../runtime/reconciler.ts";
import type { CleanupInput } from "../plan/input.ts";
import type { Wish } from "../plan/wish.ts";
import { hasFinalizer, isDeletionProtected, wantsLoadBalancer } from "../predicates.ts";
import type { News } from "../record/news.ts";
import { type Acknowledged, type DeleteOperation, hintOf, holderOf, type ServiceRecord } from "../record/record.ts";
import { leftover, unprotectedOf, wishOf } from "./desired.ts";
import { type GatherDependencies, type Owner, ownerOf, serverNamed } from "./owner.ts";
import { leftoverOf } from "./previous.ts";
import { gatherWanted } from "./wanted.ts";

/** What a Service without use for a load balancer leaves to be done; undefined: nothing of ours. */
export async function gatherCleanup(
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
  const previous = owner && (await leftoverOf(deps, news, owner.provider, holder !== undefined, context));
  const hint = hintOf(record);
  return {
    kind: "cleanup",
    service,
    isGone: false,
    provider,
    loadBalancerId: hint?.loadBalancerID,
    deletion: deletionOf(record),
    previous: previous && leftover(deps, service, previous),
    upkeep: isKeptUp(service) ? await gatherWanted(deps, news, service, context) : undefined,
    unprotected: owner && unprotectedWish(deps, service, owner, hint?.spec),
  };
}

/** As {@link gatherCleanup}, for a Service that is gone, or whose name another one has: the load balancer was the earlier one's. */
export function abandoned(record: ServiceRecord): CleanupInput | undefined {
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
