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
import type { LoadBalancerLister } from "./load-balancer-lister.ts";

export interface GatherDependencies {
  readonly services: Lister<Service>;
  readonly providers: ProviderSet;
  readonly targets: { of(provider: string, info: ProviderInfo): NodeSelection };
  readonly lister: LoadBalancerLister;
  readonly records: RecordReader;
  readonly ownWrites: Pick<OwnWrites<Service>, "latest">;
  readonly settings: LoadBalancerSettings;
  readonly pace: DriftPace;
  /** --allow-load-balancer-adoption, which may change. */
  readonly mayAdopt: () => boolean;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** One gather. */
export interface Gathering extends GatherDependencies {
  readonly news: News;
  readonly context: ReconcileContext;
}

export interface DriftPace {
  /** --load-balancer-drift-period, which may change. 0: no sweeps. */
  readonly periodMs: number;
}

export interface Owner {
  readonly provider: Provider;
  readonly info: ProviderInfo;
  readonly loadBalancers: LoadBalancerCapabilities;
}

/** undefined: the provider does not exist or serves no load balancers. */
export function serverNamed({ providers }: Pick<GatherDependencies, "providers">, name: string): Owner | undefined {
  const provider = providers.providers.find((candidate) => candidate.name === name);
  const loadBalancers = provider?.info?.capabilities.loadBalancers;
  if (provider?.info === undefined || loadBalancers === undefined) return undefined;
  return { provider, info: provider.info, loadBalancers };
}

/** Another controller may own the Service: no provider here is known to serve its class, and nothing of it is ours. */
export function isPerhapsForeign(
  { providers }: { readonly providers: Pick<ProviderSet, "providers"> },
  service: Service,
  current: CurrentProvider | undefined,
): boolean {
  const { loadBalancerClass } = service.spec;
  if (loadBalancerClass === undefined || hasFinalizer(service) || current !== undefined) return false;
  return !providers.providers.some(({ info }) => info !== undefined && classesOf(info).includes(loadBalancerClass));
}

/** undefined: no provider here owns it. Throws while no provider has responded yet. */
export function ownerOf(
  { providers, context }: Pick<Gathering, "providers" | "context">,
  service: Service,
): Owner | undefined {
  const owner = providers.ownerOfService(service);
  switch (owner.kind) {
    case "undecided":
      throw owner.error;
    case "unowned":
      context.log.debug(2, "Ignored Service: it has no load balancer provider", { detail: owner.why });
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

/** Why no provider serves a load balancer that was created here; undefined: a provider serves or may serve it, or it may belong to another controller. */
export function unservedWhy(
  { providers }: { readonly providers: Pick<ProviderSet, "providers" | "ownerOfService"> },
  service: Service,
  current: CurrentProvider | undefined,
): string | undefined {
  if (!hasFinalizer(service)) return undefined;
  const { loadBalancerClass } = service.spec;
  const isWanted = wantsLoadBalancer(service) && !isDeleting(service);
  // The provider that created it deletes it, even if another one owns the Service now.
  if (current !== undefined && !isWanted) {
    const info = providers.providers.find(({ name }) => name === current.provider)?.info;
    const isServed = info === undefined || info.capabilities.loadBalancers !== undefined;
    return isServed ? undefined : `provider ${current.provider}, which created it, serves no load balancers`;
  }
  // Controllers of all classes share the finalizer, and instances of this controller share the condition.
  const isOurs =
    current === undefined
      ? loadBalancerClass === undefined && reportedReadiness(service) !== undefined
      : current.sent.spec.loadBalancerClass === loadBalancerClass;
  const owner = isOurs ? providers.ownerOfService(service) : undefined;
  return owner?.kind === "unowned" ? owner.why : undefined;
}

/** Two sidecars of one cloud see the same load balancers: that of one is no previous one of the other. */
export function isSamePlace(one: Provider, other: Provider): boolean {
  return one.info?.name === other.info?.name && one.info?.scopeId === other.info?.scopeId;
}

/** A driver that replaced another one: equal IDs are one load balancer. IDs of one driver are unique within a place only. */
export function isSuccessor(one: Provider, other: Provider): boolean {
  return one.info?.name !== other.info?.name;
}

/**
 * The load balancer of a provider other than `owner`: from the record, or from lists if nothing `isKnown`, as after a restart.
 * If the Service needs a load balancer, the record moves to `owner`. If not, a provider whose state is unknown must delete as well, and one
 * that has not responded yet makes this throw.
 */
export async function previousOf(
  run: Gathering,
  owner: Provider,
  { isNeeded, isKnown }: { readonly isNeeded: boolean; readonly isKnown: boolean },
): Promise<PreviousLoadBalancer | undefined> {
  const { news, context } = run;
  if (isNeeded) changeOwner(run, owner);
  const others = isKnown ? [] : candidates(run, owner);
  if (!isNeeded) requireInfo(others);
  for (const other of others) {
    // A load balancer that was deleted since the list costs one call without effect.
    const found = await run.lister.find(other, news.record?.uid ?? "", undefined, context);
    if (found?.kind === "present" || (found === undefined && !isNeeded && servesLoadBalancers(other)))
      news.add({ kind: "previousFound", provider: other.name, loadBalancerID: found?.loadBalancer.id });
  }
  return firstPrevious(run, owner);
}

function requireInfo(providers: readonly Provider[]): void {
  const starting = providers.find(({ info }) => info === undefined);
  if (starting === undefined) return;
  throw starting.unavailable ?? contractError("PROVIDER_STARTING", `provider ${starting.name} has not answered yet`);
}

function servesLoadBalancers({ info }: Provider): boolean {
  return info?.capabilities.loadBalancers !== undefined;
}

function changeOwner({ providers, clock, news }: Gathering, owner: Provider): void {
  const current = currentProviderOf(news.record);
  if (current === undefined || current.provider === owner.name) return;
  const earlier = providers.providers.find(({ name }) => name === current.provider);
  const leavesPrevious = earlier !== undefined && !isSamePlace(earlier, owner);
  news.add({ kind: "ownerChanged", provider: owner.name, leavesPrevious, nowMs: clock.monotonicMs() });
}

/** Other providers that may have a load balancer of the Service, while none is known. */
function candidates({ providers, news: { record } }: Gathering, owner: Provider): readonly Provider[] {
  if (record !== undefined && record.previous.length > 0) return [];
  return providers.providers.filter(
    (other) => other.name !== owner.name && !isSamePlace(other, owner) && record?.cleared.has(other.name) !== true,
  );
}

/** The load balancer of the owner itself, which may have adopted it, is no previous one. */
function firstPrevious({ providers, news }: Gathering, owner: Provider): PreviousLoadBalancer | undefined {
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
