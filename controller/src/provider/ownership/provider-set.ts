import { matchesSelector } from "../../api/labels.ts";
import type { Node } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import { hasPrefix } from "../../util/values/provider-id.ts";
import { ambiguousNodeOwnerError, ambiguousServiceOwnerError, unknownOwnerError } from "../model/errors.ts";
import type { ProviderInfo } from "../model/info.ts";
import {
  type Answered,
  NO_RULES,
  type NodeOwner,
  type Ownership,
  type OwnershipRules,
  type Provider,
  type ProviderSet,
  type ServiceOwner,
  answered,
  firstSilent,
  namesOf,
  unowned,
  silentError,
} from "../model/provider.ts";

function nodeOwner(node: Node, ownership: Ownership): NodeOwner {
  return node.spec.providerID === "" ? ownerWithoutId(node, ownership) : ownerById(node, ownership);
}

/** The provider ID determines the owner, even while other providers are silent. */
function ownerById(node: Node, { providers, rules }: Ownership): NodeOwner {
  const { providerID } = node.spec;
  const declaring = declaringPrefixOf(providerID, providers);
  const [owner, ...rivals] = declaring;
  if (owner === undefined) return unowned(`no provider has the prefix of ${providerID}`, providers);
  if (rivals.length > 0) return selectedAmong(declaring, node, rules);
  // A selector contradicts the provider ID: do nothing until all providers have responded.
  if (selects(owner.provider, node, rules)) return { kind: "owned", ...owner };
  const silent = firstSilent(providers.filter((provider) => selects(provider, node, rules)));
  if (silent !== undefined) return { kind: "undecided", error: silentError(silent) };
  const unheard = firstSilent(providers);
  return { kind: "owned", ...owner, ...(unheard === undefined ? {} : { unheard: unheard.name }) };
}

/** Accounts of one cloud share a prefix: only the operator's selectors distinguish them. */
function selectedAmong(declaring: readonly Answered[], node: Node, rules: OwnershipRules): NodeOwner {
  const [chosen, ...more] = declaring.filter(({ provider }) => selects(provider, node, rules));
  if (chosen !== undefined && more.length === 0) return { kind: "owned", ...chosen };
  const cause = `several providers have the prefix of ${node.spec.providerID}, and not exactly one of their selectors matches the node`;
  return { kind: "undecided", error: ambiguousNodeOwnerError(node.metadata.name, cause, namesOf(declaring)) };
}

function ownerWithoutId(node: Node, { providers, rules }: Ownership): NodeOwner {
  const { name } = node.metadata;
  const matching = providers.filter((provider) => selects(provider, node, rules));
  const [selected] = matching;
  if (matching.length > 1) {
    const names = matching.map((provider) => provider.name);
    return { kind: "undecided", error: ambiguousNodeOwnerError(name, "several providers' selectors match it", names) };
  }
  if (selected !== undefined) return ownerByName(node, selected);
  // A provider with a selector does not own other nodes.
  const open = providers.filter((provider) => !rules.nodeSelectors.has(provider.name));
  const [only] = open;
  return providers.length === 1 && only !== undefined ? ownerByName(node, only) : claimed(name, open);
}

/** The provider finds the instance by name. */
function ownerByName({ metadata }: Node, provider: Provider): NodeOwner {
  const { info } = provider;
  if (info === undefined) return { kind: "undecided", error: silentError(provider) };
  if (findsNames(info)) return { kind: "owned", provider, info };
  const why = `node ${metadata.name} has no provider ID, and provider ${provider.name} cannot find instances by name; set --provider-id of its kubelet`;
  return { kind: "unowned", why };
}

/** Only look-ups can determine the owner: proto/README.md ABS-8. */
function claimed(name: string, open: readonly Provider[]): NodeOwner {
  const silent = firstSilent(open);
  if (silent !== undefined) {
    const message = `node ${name} has no provider ID, and ${silent.name} cannot determine whether it owns the instance: ${silentError(silent).message}`;
    return { kind: "undecided", error: unknownOwnerError(message, false) };
  }
  const claimants = answered(open).filter(({ info }) => findsNames(info));
  if (claimants.length > 0) {
    const error = ambiguousNodeOwnerError(
      name,
      "it has no provider ID, so all of them must look it up",
      namesOf(claimants),
    );
    return { kind: "undecided", error, claimants };
  }
  const why =
    open.length === 0 ? "no provider's selector matches it" : "no possible provider can find instances by name";
  return { kind: "unowned", why: `node ${name} has no provider ID, and ${why}` };
}

/** The providers with the longest prefix of the ID. */
function declaringPrefixOf(providerID: string, providers: readonly Provider[]): readonly Answered[] {
  let longest = 1;
  let declaring: readonly Answered[] = [];
  for (const one of answered(providers)) {
    const length = prefixLength(one.info, providerID);
    if (length < longest) continue;
    declaring = length === longest ? [...declaring, one] : [one];
    longest = length;
  }
  return declaring;
}

/** 0: no prefix matches. */
function prefixLength({ providerIdPrefixes }: ProviderInfo, providerID: string): number {
  let longest = 0;
  for (const prefix of providerIdPrefixes) {
    if (prefix.length > longest && hasPrefix(providerID, prefix)) longest = prefix.length;
  }
  return longest;
}

function selects({ name }: Provider, { metadata }: Node, { nodeSelectors }: OwnershipRules): boolean {
  const selector = nodeSelectors.get(name);
  return selector !== undefined && matchesSelector(selector, metadata.labels);
}

function findsNames({ capabilities }: ProviderInfo): boolean {
  return capabilities.instances?.lookupByName === true;
}

/**
 * A Node belongs to the provider that declares the longest prefix of its provider ID. Without an ID, the operator's selectors decide, then
 * the one provider that finds the instance. A Service belongs to the provider of its class, else to the default provider.
 */
export function providerSet(providers: readonly Provider[], rules: OwnershipRules = NO_RULES): ProviderSet {
  const ownership = { providers, rules };
  return {
    providers,
    ownerOfNode: (node) => nodeOwner(node, ownership),
    ownerOfService: (service) => serviceOwner(service, ownership),
  };
}

function serviceOwner({ spec }: Service, ownership: Ownership): ServiceOwner {
  const { loadBalancerClass } = spec;
  return loadBalancerClass === undefined ? defaultOwner(ownership) : ownerOfClass(loadBalancerClass, ownership);
}

/** Load-balancer classes that a provider declares. */
export function classesOf({ capabilities }: ProviderInfo): readonly string[] {
  return capabilities.loadBalancers?.classes ?? [];
}

function ownerOfClass(loadBalancerClass: string, ownership: Ownership): ServiceOwner {
  const { providers } = ownership;
  const serving = answered(providers).filter(({ info }) => classesOf(info).includes(loadBalancerClass));
  const [owner, ...rivals] = serving;
  if (owner === undefined) return unowned(`no provider serves load-balancer class ${loadBalancerClass}`, providers);
  if (rivals.length > 0) {
    const why = `several providers serve load-balancer class ${loadBalancerClass}`;
    return { kind: "undecided", error: ambiguousServiceOwnerError(why, namesOf(serving)) };
  }
  return servedBy(owner, ownership);
}

function defaultOwner(ownership: Ownership): ServiceOwner {
  const { providers, rules } = ownership;
  const { defaultLoadBalancerProvider: wanted = providers[0]?.name } = rules;
  const provider = providers.find(({ name }) => name === wanted);
  if (provider === undefined) return { kind: "unowned", why: "no provider is configured" };
  const { info } = provider;
  if (info === undefined) return { kind: "undecided", error: silentError(provider) };
  if (info.capabilities.loadBalancers !== undefined) return servedBy({ provider, info }, ownership);
  const why = `provider ${provider.name} owns Services without class but does not support load balancers`;
  return { kind: "unowned", why };
}

/**
 * If providers share a prefix without selectors, their load balancers are not changed: they would lose all nodes. A silent provider may
 * serve the class or own nodes as well.
 */
function servedBy(owner: Answered, ownership: Ownership): ServiceOwner {
  const silent = ownership.rules.isSettled() ? undefined : firstSilent(ownership.providers);
  if (silent !== undefined) return { kind: "undecided", error: silentError(silent) };
  const others = answered(ownership.providers).filter(({ provider }) => provider !== owner.provider);
  const rivals = others.filter((other) => !areDistinguishable(owner, other, ownership));
  if (rivals.length === 0) return { kind: "owned", ...owner };
  const cause = "several providers have the same provider-ID prefix, so the nodes of a load balancer are unknown";
  return { kind: "undecided", error: ambiguousServiceOwnerError(cause, namesOf([owner, ...rivals])) };
}

function areDistinguishable(left: Answered, right: Answered, { rules }: Ownership): boolean {
  const { nodeSelectors } = rules;
  if (nodeSelectors.has(left.provider.name) && nodeSelectors.has(right.provider.name)) return true;
  return !left.info.providerIdPrefixes.some((prefix) => right.info.providerIdPrefixes.includes(prefix));
}

/** The queue of objects without owner. */
const NO_PROVIDER = "";

/** The workqueue's subqueue of an object: a hanging cloud blocks only the workers of its provider. */
export function subqueueOfOwner(owner: NodeOwner | undefined): string {
  return owner?.kind === "owned" ? owner.provider.name : NO_PROVIDER;
}

/** One subqueue per provider, and one for unowned Nodes. */
export function nodeSubqueues(
  nodes: { get(key: string): Node | undefined },
  providers: Pick<ProviderSet, "providers" | "ownerOfNode">,
): { readonly of: (key: string) => string; readonly count: number } {
  const of = (key: string): string => {
    const node = nodes.get(key);
    return subqueueOfOwner(node && providers.ownerOfNode(node));
  };
  return { of, count: subqueueCount(providers) };
}

/** One per provider, and one for unowned objects. */
export function subqueueCount({ providers }: Pick<ProviderSet, "providers">): number {
  return providers.length + 1;
}
