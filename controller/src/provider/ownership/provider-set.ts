import { matchesSelector } from "../../api/labels.ts";
import type { Node } from "../../api/node.ts";
import { answered, firstSilent, namesOf, nobody, silentError } from "../model/answered.ts";
import { contestedNodeError, openClaimError } from "../model/ownership-errors.ts";
import type { ProviderInfo } from "../model/info.ts";
import type { Answered, NodeOwner, Ownership, OwnershipRules, Provider } from "../model/provider.ts";

/** Whose a Node is: by provider ID, by the operator's selectors, or by the claim of whoever knows the machine. */
export function nodeOwner(node: Node, ownership: Ownership): NodeOwner {
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
  return { kind: "undecided", error: contestedNodeError(node.metadata.name, why, namesOf(declaring)) };
}

function ownerWithoutId(node: Node, { providers, rules }: Ownership): NodeOwner {
  const { name } = node.metadata;
  const matching = providers.filter((provider) => selects(provider, node, rules));
  const [selected] = matching;
  if (matching.length > 1) {
    const names = matching.map((provider) => provider.name);
    return { kind: "undecided", error: contestedNodeError(name, "several providers' selectors match it", names) };
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
    return { kind: "undecided", error: openClaimError(message, false) };
  }
  const claimants = answered(open).filter(({ info }) => findsNames(info));
  if (claimants.length > 0) {
    const error = contestedNodeError(name, "it has no provider ID, so each has to be asked", namesOf(claimants));
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
