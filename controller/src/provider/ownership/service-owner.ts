import type { Service } from "../../api/service.ts";
import { answered, firstSilent, namesOf, nobody, silentError } from "../model/answered.ts";
import { contestedServiceError } from "../model/ownership-errors.ts";
import type { ProviderInfo } from "../model/info.ts";
import type { Answered, Ownership, ServiceOwner } from "../model/provider.ts";

/** Whose load balancer a Service wants: by class, else the default provider's. */
export function serviceOwner({ spec }: Service, ownership: Ownership): ServiceOwner {
  const { loadBalancerClass } = spec;
  return loadBalancerClass === undefined ? defaultOwner(ownership) : ownerOfClass(loadBalancerClass, ownership);
}

/** Classes of load balancers that a provider declares. */
export function classesOf({ capabilities }: ProviderInfo): readonly string[] {
  return capabilities.loadBalancers?.classes ?? [];
}

function ownerOfClass(loadBalancerClass: string, ownership: Ownership): ServiceOwner {
  const { providers } = ownership;
  const serving = answered(providers).filter(({ info }) => classesOf(info).includes(loadBalancerClass));
  const [owner, ...rivals] = serving;
  if (owner === undefined) return nobody(`no provider serves load-balancer class ${loadBalancerClass}`, providers);
  if (rivals.length > 0) {
    const why = `several providers serve load-balancer class ${loadBalancerClass}`;
    return { kind: "undecided", error: contestedServiceError(why, namesOf(serving)) };
  }
  return servedBy(owner, ownership);
}

function defaultOwner(ownership: Ownership): ServiceOwner {
  const { providers, rules } = ownership;
  const { defaultLoadBalancerProvider: wanted = providers[0]?.name } = rules;
  const provider = providers.find(({ name }) => name === wanted);
  if (provider === undefined) return { kind: "unowned", why: "there is no provider" };
  const { info } = provider;
  if (info === undefined) return { kind: "undecided", error: silentError(provider) };
  if (info.capabilities.loadBalancers !== undefined) return servedBy({ provider, info }, ownership);
  const why = `Services without class go to provider ${provider.name}, which serves no load balancers`;
  return { kind: "unowned", why };
}

/**
 * Load balancers of a provider whose nodes cannot be told from another's stay as they are: they would lose them all. One that is silent at the
 * start may serve the class as well, or own some of the nodes.
 */
function servedBy(owner: Answered, ownership: Ownership): ServiceOwner {
  const silent = ownership.rules.isSettled() ? undefined : firstSilent(ownership.providers);
  if (silent !== undefined) return { kind: "undecided", error: silentError(silent) };
  const others = answered(ownership.providers).filter(({ provider }) => provider !== owner.provider);
  const rivals = others.filter((other) => !canBeTold(owner, other, ownership));
  if (rivals.length === 0) return { kind: "owned", ...owner };
  const why = "several providers have the same provider-ID prefix, so the nodes of a load balancer cannot be told";
  return { kind: "undecided", error: contestedServiceError(why, namesOf([owner, ...rivals])) };
}

function canBeTold(left: Answered, right: Answered, { rules }: Ownership): boolean {
  const { nodeSelectors } = rules;
  if (nodeSelectors.has(left.provider.name) && nodeSelectors.has(right.provider.name)) return true;
  return !left.info.providerIdPrefixes.some((prefix) => right.info.providerIdPrefixes.includes(prefix));
}
