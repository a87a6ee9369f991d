import { matchesSelector } from "../../api/labels.ts";
import type { Node } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
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
  nobody,
  silentError,
} from "../model/provider.ts";

/** Whose a Node is: by provider ID, by the operator's selectors, or by the claim of whoever knows the machine. */
function nodeOwner(node: Node, ownership: Ownership): NodeOwner {
  return node.spec.providerID === "" ? ownerWithoutId(node, ownership) : ownerById(node, ownership);
}

/** The ID says whose the machine is, whatever other providers are silent or away. */
function ownerById(node: Node, { providers, rules }: Ownership): NodeOwner {
  const { providerID } = node.spec;
  const declaring = declaringPrefixOf(providerID, providers);
  const [owner, ...rivals] = declaring;
  if (owner === undefined) return nobody(`no provider has the prefix of ${providerID}`, providers);
  if (rivals.length > 0) return selectedAmong(declaring, node, rules);
  // The operator's word against the ID's: whoever is meant, it is not the moment to act.
  if (selects(owner.provider, node, rules)) return { kind: "owned", ...owner };
  const silent = firstSilent(providers.filter((provider) => selects(provider, node, rules)));
  if (silent !== undefined) return { kind: "undecided", error: silentError(silent) };
  const unheard = firstSilent(providers);
  return { kind: "owned", ...owner, ...(unheard === undefined ? {} : { unheard: unheard.name }) };
}

/** Several accounts of one cloud have one prefix: only the operator can tell them apart. */
function selectedAmong(declaring: readonly Answered[], node: Node, rules: OwnershipRules): NodeOwner {
  const [chosen, ...more] = declaring.filter(({ provider }) => selects(provider, node, rules));
  if (chosen !== undefined && more.length === 0) return { kind: "owned", ...chosen };
  const why = `several providers have the prefix of ${node.spec.providerID}, and no selector of one alone matches the node`;
  return { kind: "undecided", error: ambiguousNodeOwnerError(node.metadata.name, why, namesOf(declaring)) };
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
  // Who has a selector has said that all other nodes are not its.
  const open = providers.filter((provider) => !rules.nodeSelectors.has(provider.name));
  const [only] = open;
  return providers.length === 1 && only !== undefined ? ownerByName(node, only) : claimed(name, open);
}

/** Found by name by a provider that nothing but the name has to be known for. */
function ownerByName({ metadata }: Node, provider: Provider): NodeOwner {
  const { info } = provider;
  if (info === undefined) return { kind: "undecided", error: silentError(provider) };
  if (findsNames(info)) return { kind: "owned", provider, info };
  const why = `node ${metadata.name} has no provider ID, and provider ${provider.name} finds no machines by name; give its kubelet --provider-id`;
  return { kind: "unowned", why };
}

/** Which of several has the machine only their answers can tell: proto/README.md ABS-8. */
function claimed(name: string, open: readonly Provider[]): NodeOwner {
  const silent = firstSilent(open);
  if (silent !== undefined) {
    const message = `node ${name} has no provider ID, and ${silent.name} cannot say whether the machine is its: ${silentError(silent).message}`;
    return { kind: "undecided", error: unknownOwnerError(message, false) };
  }
  const claimants = answered(open).filter(({ info }) => findsNames(info));
  if (claimants.length > 0) {
    const error = ambiguousNodeOwnerError(name, "it has no provider ID, so each has to be asked", namesOf(claimants));
    return { kind: "undecided", error, claimants };
  }
  const why =
    open.length === 0 ? "no provider's selector matches it" : "no provider that it could be of finds machines by name";
  return { kind: "unowned", why: `node ${name} has no provider ID, and ${why}` };
}

/** Who declares the longest prefix of the ID. */
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

/** 0: none of the provider's. */
function prefixLength({ providerIdPrefixes }: ProviderInfo, providerID: string): number {
  let longest = 0;
  for (const prefix of providerIdPrefixes) {
    if (prefix.length > longest && providerID.startsWith(prefix)) longest = prefix.length;
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

/** Whose load balancer a Service wants: by class, else the default provider's. */
function serviceOwner({ spec }: Service, ownership: Ownership): ServiceOwner {
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
    return { kind: "undecided", error: ambiguousServiceOwnerError(why, namesOf(serving)) };
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
  return { kind: "undecided", error: ambiguousServiceOwnerError(why, namesOf([owner, ...rivals])) };
}

function canBeTold(left: Answered, right: Answered, { rules }: Ownership): boolean {
  const { nodeSelectors } = rules;
  if (nodeSelectors.has(left.provider.name) && nodeSelectors.has(right.provider.name)) return true;
  return !left.info.providerIdPrefixes.some((prefix) => right.info.providerIdPrefixes.includes(prefix));
}

/** The lane of what no provider is responsible for, or not yet one. */
const NO_PROVIDER = "";

/**
 * The lane in a workqueue of what a provider owns: one whose cloud hangs has all workers of its own waiting, and none of another's.
 * @param owner undefined: the object is gone
 */
export function subqueueOfOwner(owner: NodeOwner | undefined): string {
  return owner?.kind === "owned" ? owner.provider.name : NO_PROVIDER;
}

/** One queue for each provider's Nodes, and one for those of none. */
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

/** One for each provider, and one for what none owns. */
export function subqueueCount({ providers }: Pick<ProviderSet, "providers">): number {
  return providers.length + 1;
}
