import { deletionProtection, type Service } from "../../../api/service.ts";
import type { ReconcileContext } from "../../../runtime/reconciler.ts";
import { leftoverOf } from "../formers.ts";
import type { Entry } from "../ledger.ts";
import type { CleanupInput } from "../plan/input.ts";
import type { Wish } from "../plan/wish.ts";
import { hasFinalizer, isDeletionProtected, wantsLoadBalancer } from "../predicates.ts";
import type { GatherDependencies } from "./dependencies.ts";
import { holderOf, type Owner, ownerOf } from "./owner.ts";
import { gatherWanted } from "./wanted.ts";
import { leftover, unprotectedOf, wishOf } from "./desired.ts";

/** What a Service without use for a load balancer leaves to be done; undefined: nothing of ours. */
export async function gatherCleanup(
  deps: GatherDependencies,
  context: ReconcileContext,
  service: Service,
  entry: Entry | undefined,
): Promise<CleanupInput | undefined> {
  const { ledger } = deps;
  const { key } = context;
  const holder = ledger.holder(key)?.provider;
  if (holder === undefined && !isOurs(deps, key, service)) return undefined;
  const owner = holder === undefined ? ownerOf(deps, context, service) : holderOf(deps, holder);
  const provider = holder ?? owner?.provider.name;
  if (provider === undefined) return undefined;
  ledger.recordOurs(key);
  const former = owner && (await leftoverOf(deps, owner.provider, service.metadata.uid, holder !== undefined, context));
  return {
    kind: "cleanup",
    service,
    isGone: false,
    provider,
    entry,
    deletion: ledger.deletion(key, service.metadata.uid),
    former: former && leftover(deps, service, former),
    upkeep: isKeptUp(service) ? await gatherWanted(deps, context, service, entry) : undefined,
    unprotected: owner && unprotectedWish(deps, service, owner, entry),
  };
}

/** Something of it may be left. A Service that gives up its type loses its class too; the finalizer is shared by controllers of all classes. */
function isOurs({ ledger }: GatherDependencies, key: string, service: Service): boolean {
  const { uid } = service.metadata;
  const isWanted = wantsLoadBalancer(service);
  return isWanted
    ? hasFinalizer(service) || !ledger.isCleaned(key, uid)
    : hasFinalizer(service) && !ledger.isForeign(key, uid);
}

/** It must not go, and can serve meanwhile. */
function isKeptUp(service: Service): boolean {
  return isDeletionProtected(service) && wantsLoadBalancer(service) && hasFinalizer(service);
}

/** The last wish without protection at the cloud, where its user takes that back or this process has asked for it. */
function unprotectedWish(
  deps: GatherDependencies,
  service: Service,
  owner: Owner,
  entry: Entry | undefined,
): Wish | undefined {
  if (!owner.loadBalancers.deletionProtection || isDeletionProtected(service)) return undefined;
  if (deletionProtection(service) === undefined && entry?.spec?.deletionProtection === undefined) return undefined;
  const wish = wishOf(deps, service, owner, entry);
  return unprotectedOf(wish, entry?.spec ?? wish.spec);
}
