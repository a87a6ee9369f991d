import { contractError } from "../../../provider/model/errors.ts";
import type { Provider } from "../../../provider/model/provider.ts";
import type { ReconcileContext } from "../../../runtime/reconciler.ts";
import type { News } from "../record/records.ts";
import { hintOf, holderOf, type PreviousLoadBalancer } from "../record/record.ts";
import type { Found } from "./load-balancer-lister.ts";
import type { GatherDependencies } from "./owner.ts";

type Dependencies = Pick<GatherDependencies, "providers" | "lister" | "clock">;

/** Two sidecars of one cloud see the same load balancers: what one holds is not a previous one of the other. */
export function isSamePlace(one: Provider, other: Provider): boolean {
  return one.info?.name === other.info?.name && one.info?.scopeId === other.info?.scopeId;
}

/** A driver that took over from another one: equal IDs are one load balancer. Those of one driver are unique within a place alone. */
export function isSuccessor(one: Provider, other: Provider): boolean {
  return one.info?.name !== other.info?.name;
}

/**
 * What another provider than `owner` holds of a Service that wants a load balancer: what this process knows, or, if nothing `isKnown` as after
 * a restart, what lists show. The record goes over to `owner`. undefined: nothing is known, and nothing is guessed.
 */
export async function previousOf(
  deps: Dependencies,
  news: News,
  owner: Provider,
  isKnown: boolean,
  context: ReconcileContext,
): Promise<PreviousLoadBalancer | undefined> {
  handOver(deps, news, owner);
  if (!isKnown && !hasPrevious(news)) {
    for (const other of candidates(deps, news, owner)) {
      const found = await find(deps, news, other, context);
      if (found?.kind === "present") addPrevious(news, other, found.loadBalancer.id);
    }
  }
  return firstPrevious(deps, news, owner);
}

/**
 * As {@link previousOf}, for a Service that is to have no load balancer at all: a provider of which nobody can tell is asked to delete as well.
 * Throws while one has not answered yet.
 */
export async function possiblePreviousOf(
  deps: Dependencies,
  news: News,
  owner: Provider,
  isKnown: boolean,
  context: ReconcileContext,
): Promise<PreviousLoadBalancer | undefined> {
  if (!isKnown && !hasPrevious(news)) {
    for (const other of candidates(deps, news, owner)) {
      const { info, name } = other;
      if (info === undefined) {
        throw other.unavailable ?? contractError("PROVIDER_STARTING", `provider ${name} has not answered yet`);
      }
      if (info.capabilities.loadBalancers === undefined) continue;
      const found = await find(deps, news, other, context);
      if (found?.kind !== "absent") addPrevious(news, other, found?.loadBalancer.id);
    }
  }
  return firstPrevious(deps, news, owner);
}

/** The owner has changed since the record was written. */
function handOver({ providers, clock }: Dependencies, news: News, owner: Provider): void {
  const holder = holderOf(news.record);
  if (holder === undefined || holder.provider === owner.name) return;
  const earlier = providers.providers.find(({ name }) => name === holder.provider);
  const leavesPrevious = earlier !== undefined && !isSamePlace(earlier, owner);
  news.add({ kind: "ownerChanged", provider: owner.name, leavesPrevious, nowMs: clock.monotonicMs() });
}

function hasPrevious({ record }: News): boolean {
  return record !== undefined && record.previous.length > 0;
}

function addPrevious(news: News, { name: provider }: Provider, loadBalancerID: string | undefined): void {
  news.add({ kind: "previousFound", provider, loadBalancerID });
}

/** Providers that may hold something of the Service and were not found to hold nothing. */
function candidates({ providers }: Dependencies, { record }: News, owner: Provider): readonly Provider[] {
  return providers.providers.filter(
    (other) => other.name !== owner.name && !isSamePlace(other, owner) && record?.cleared.has(other.name) !== true,
  );
}

function find(
  { lister }: Dependencies,
  { record }: News,
  other: Provider,
  context: ReconcileContext,
): Promise<Found | undefined> {
  // What is gone since the list costs one deletion of nothing.
  return lister.find(other, record?.uid ?? "", undefined, context);
}

/** What the owner itself holds, adopted perhaps, is none. */
function firstPrevious({ providers }: Dependencies, news: News, owner: Provider): PreviousLoadBalancer | undefined {
  const present = hintOf(news.record)?.loadBalancerID;
  for (const previous of news.record?.previous ?? []) {
    const { provider } = previous;
    const earlier = providers.providers.find(({ name }) => name === provider);
    const isOwners = provider === owner.name || (earlier !== undefined && isSamePlace(earlier, owner));
    const isAdopted = previous.loadBalancerID === present && earlier !== undefined && isSuccessor(owner, earlier);
    if (!isOwners && (present === undefined || !isAdopted)) return previous;
    news.add({ kind: "previousCleared", provider });
  }
  return undefined;
}
