import type { Service } from "../../../api/service.ts";
import type { Lister } from "../../../kube/cache/lister.ts";
import type { OwnWrites } from "../../../kube/cache/store.ts";
import type { LoadBalancerSettings } from "../../../provider/convert/service.ts";
import type { NodeSelection } from "../../../provider/model/client.ts";
import { contractError } from "../../../provider/model/errors.ts";
import type { LoadBalancerCapabilities, ProviderInfo } from "../../../provider/model/info.ts";
import type { Provider, ProviderSet } from "../../../provider/model/provider.ts";
import { classesOf } from "../../../provider/ownership/provider-set.ts";
import type { ReconcileContext } from "../../../runtime/reconciler.ts";
import type { Clock } from "../../../util/clock.ts";
import { reportedReadiness } from "../plan/status.ts";
import { hasFinalizer, isDeleting, wantsLoadBalancer } from "../predicates.ts";
import { type CurrentProvider, type PreviousLoadBalancer, hintOf, currentProviderOf } from "../record/record.ts";
import type { News, RecordReader } from "../record/records.ts";
import type { Found, LoadBalancerLister } from "./load-balancer-lister.ts";

/** What this step reads from; nothing of it can be written. */
export interface GatherDependencies {
  readonly services: Lister<Service>;
  readonly providers: ProviderSet;
  /** The nodes behind the load balancers of a provider. */
  readonly targets: { of(provider: string, info: ProviderInfo): NodeSelection };
  readonly lister: LoadBalancerLister;
  readonly records: RecordReader;
  readonly ownWrites: Pick<OwnWrites<Service>, "latest">;
  readonly settings: LoadBalancerSettings;
  /** Of --load-balancer-drift-period, as it is now. */
  readonly pace: DriftPace;
  /** Of --allow-load-balancer-adoption, as it is now. */
  readonly mayAdopt: () => boolean;
  readonly clock: Pick<Clock, "monotonicMs">;
}

export interface DriftPace {
  /** From one look at all load balancers to the next; 0: there is none. May change. */
  readonly periodMs: number;
}

/** Who serves a Service, as far as load balancers go. */
export interface Owner {
  readonly provider: Provider;
  readonly info: ProviderInfo;
  readonly loadBalancers: LoadBalancerCapabilities;
}

/** The provider of that name, whoever is to serve the Service now. undefined: it serves no load balancers. */
export function serverNamed({ providers }: Pick<GatherDependencies, "providers">, name: string): Owner | undefined {
  const provider = providers.providers.find((candidate) => candidate.name === name);
  const loadBalancers = provider?.info?.capabilities.loadBalancers;
  if (provider?.info === undefined || loadBalancers === undefined) return undefined;
  return { provider, info: provider.info, loadBalancers };
}

/** Its class is nobody's here as far as known, and nothing of it is ours: another controller has the word about it. */
export function isPerhapsForeign(
  { providers }: { readonly providers: Pick<ProviderSet, "providers"> },
  service: Service,
  current: CurrentProvider | undefined,
): boolean {
  const { loadBalancerClass } = service.spec;
  if (loadBalancerClass === undefined || hasFinalizer(service) || current !== undefined) return false;
  return !providers.providers.some(({ info }) => info !== undefined && classesOf(info).includes(loadBalancerClass));
}

/** undefined: nobody's here. Throws while no provider has answered yet. */
export function ownerOf(
  { providers }: Pick<GatherDependencies, "providers">,
  { log }: Pick<ReconcileContext, "log">,
  service: Service,
): Owner | undefined {
  const owner = providers.ownerOfService(service);
  switch (owner.kind) {
    case "undecided":
      throw owner.error;
    case "unowned":
      log.debug(2, "Ignored Service: it has no load balancer provider", { detail: owner.why });
      return undefined;
    case "owned": {
      const { provider, info } = owner;
      const { loadBalancers } = info.capabilities;
      return loadBalancers === undefined ? undefined : { provider, info, loadBalancers };
    }
    default:
      return owner satisfies never;
  }
}

/** Why nobody serves a load balancer that was made here; undefined: somebody does or may, or it is another controller's as far as can be told. */
export function unservedWhy(
  { providers }: { readonly providers: Pick<ProviderSet, "providers" | "ownerOfService"> },
  service: Service,
  current: CurrentProvider | undefined,
): string | undefined {
  if (!hasFinalizer(service)) return undefined;
  const { loadBalancerClass } = service.spec;
  const isWanted = wantsLoadBalancer(service) && !isDeleting(service);
  // Whoever made it takes it down, whoever is to serve the Service now.
  if (current !== undefined && !isWanted) {
    const info = providers.providers.find(({ name }) => name === current.provider)?.info;
    const isServed = info === undefined || info.capabilities.loadBalancers !== undefined;
    return isServed ? undefined : `provider ${current.provider}, which made it, serves no load balancers`;
  }
  // The finalizer is shared by controllers of all classes, and the condition by those of this kind.
  const isOurs =
    current === undefined
      ? loadBalancerClass === undefined && reportedReadiness(service) !== undefined
      : current.sent.spec.loadBalancerClass === loadBalancerClass;
  const owner = isOurs ? providers.ownerOfService(service) : undefined;
  return owner?.kind === "unowned" ? owner.why : undefined;
}

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
  changeOwner(deps, news, owner);
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
function changeOwner({ providers, clock }: Dependencies, news: News, owner: Provider): void {
  const current = currentProviderOf(news.record);
  if (current === undefined || current.provider === owner.name) return;
  const earlier = providers.providers.find(({ name }) => name === current.provider);
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
