import { type LabelSelector, matchesSelector } from "../api/label-selector.ts";
import type { Node } from "../api/node.ts";
import type { Service } from "../api/service.ts";
import type { ProviderClient } from "./client.ts";
import { contractError, type ProviderError } from "./errors.ts";
import { contestedNodeError, contestedServiceError } from "./ownership-errors.ts";
import type { ProviderInfo } from "./provider-info.ts";

/** One sidecar: who it is and how to call it. */
export interface Provider {
  /** Name from the options, the same before and after the handshake; label of metrics and logs. */
  readonly name: string;
  readonly client: ProviderClient;
  /** Answer to the last handshake; undefined before the first. Kept while the connection is lost. */
  readonly info: ProviderInfo | undefined;
  /** Why it cannot be called now; undefined when it can. */
  readonly unavailable: ProviderError | undefined;
  /** Why no absence it reports is to be believed now: no connection, scope, credentials or cloud in doubt. undefined: no reason known. */
  readonly doubt: string | undefined;
}

/** A provider that has answered the handshake. */
export interface Answered {
  readonly provider: Provider;
  readonly info: ProviderInfo;
}

/** Whose a Node is. */
export type NodeOwner =
  | ({ readonly kind: "owned" } & Answered)
  /** Nobody's: leave it alone. */
  | { readonly kind: "unowned"; readonly why: string }
  /** Cannot be said now: a provider has not answered yet, or several could be meant. Leave it alone. */
  | {
      readonly kind: "undecided";
      readonly error: ProviderError;
      /** Only these can tell, by looking for the machine: see {@link InstanceReader}, which asks them. */
      readonly claimants?: readonly Answered[];
    };

/** Whose load balancer a Service wants. */
export type ServiceOwner = NodeOwner;

/** The providers of this process and who owns what. */
export interface ProviderSet {
  readonly providers: readonly Provider[];
  ownerOfNode(node: Node): NodeOwner;
  ownerOfService(service: Service): ServiceOwner;
}

/** What the operator says about who owns what. */
export interface OwnershipRules {
  /** By provider: which of the Nodes without a provider ID are its. A provider that is missing here has to look for the machine. */
  readonly nodeSelectors: ReadonlyMap<string, LabelSelector>;
  /** Serves Services without class. undefined: the first provider. */
  readonly defaultLoadBalancerProvider: string | undefined;
  /** Every provider has had the time to answer after the start. Until then one that is silent may serve a class, too. */
  readonly isSettled: () => boolean;
}

export const NO_RULES: OwnershipRules = {
  nodeSelectors: new Map(),
  defaultLoadBalancerProvider: undefined,
  isSettled: () => true,
};

/**
 * Nodes go by provider-ID prefix; without ID by the operator's selectors, then to the one provider that knows the machine. Services go
 * by class, else to the default provider. docs/explanation/several-providers.md says why.
 */
export class PrefixProviderSet implements ProviderSet {
  readonly providers: readonly Provider[];
  readonly #rules: OwnershipRules;

  constructor(providers: readonly Provider[], rules: OwnershipRules = NO_RULES) {
    this.providers = providers;
    this.#rules = rules;
  }

  ownerOfNode(node: Node): NodeOwner {
    return node.spec.providerID === "" ? this.#ownerWithoutId(node) : this.#ownerById(node);
  }

  ownerOfService({ spec }: Service): ServiceOwner {
    const { loadBalancerClass } = spec;
    return loadBalancerClass === undefined ? this.#defaultOwner() : this.#ownerOfClass(loadBalancerClass);
  }

  /** The ID says whose the machine is, whatever other providers are silent or away: theirs would say otherwise. */
  #ownerById(node: Node): NodeOwner {
    const { providerID } = node.spec;
    const declaring = this.#declaring(providerID);
    const [owner, ...rivals] = declaring;
    if (owner === undefined) return this.#nobody(`no provider has the prefix of ${providerID}`);
    if (rivals.length > 0) return this.#selectedAmong(declaring, node);
    // The operator's word against the ID's: whoever is meant, it is not the moment to act.
    const silent = this.providers.find((one) => one.info === undefined && this.#selects(one, node));
    return silent === undefined || this.#selects(owner.provider, node)
      ? { kind: "owned", ...owner }
      : { kind: "undecided", error: silentError(silent) };
  }

  /** Several accounts of one cloud have one prefix: only the operator can tell them apart. */
  #selectedAmong(declaring: readonly Answered[], node: Node): NodeOwner {
    const [chosen, ...more] = declaring.filter(({ provider }) => this.#selects(provider, node));
    if (chosen !== undefined && more.length === 0) return { kind: "owned", ...chosen };
    const why = `several providers have the prefix of ${node.spec.providerID}, and no selector of one alone matches the node`;
    return { kind: "undecided", error: contestedNodeError(node.metadata.name, why, namesOf(declaring)) };
  }

  #ownerWithoutId(node: Node): NodeOwner {
    const { name } = node.metadata;
    const [selected, ...more] = this.providers.filter((provider) => this.#selects(provider, node));
    if (more.length > 0) {
      const names = [selected, ...more].flatMap((provider) => provider?.name ?? []);
      return { kind: "undecided", error: contestedNodeError(name, "several providers' selectors match it", names) };
    }
    if (selected !== undefined) return this.#ownerByName(node, selected);
    // Who has a selector has said that all other nodes are not its.
    const open = this.providers.filter((provider) => !this.#rules.nodeSelectors.has(provider.name));
    const [only] = this.providers;
    if (this.providers.length === 1 && only !== undefined && open.length === 1) return this.#ownerByName(node, only);
    return this.#claimed(name, open);
  }

  /** Found by name by a provider of which nothing but the name has to be known. */
  #ownerByName({ metadata }: Node, provider: Provider): NodeOwner {
    const { info } = provider;
    if (info === undefined) return { kind: "undecided", error: silentError(provider) };
    if (findsNames(info)) return { kind: "owned", provider, info };
    const why = `node ${metadata.name} has no provider ID, and provider ${provider.name} finds no machines by name; give its kubelet --provider-id`;
    return { kind: "unowned", why };
  }

  /** Which of several has the machine only their answers can tell: proto/README.md ABS-8. */
  #claimed(name: string, open: readonly Provider[]): NodeOwner {
    const silent = open.find(({ info }) => info === undefined);
    if (silent !== undefined) return { kind: "undecided", error: silentError(silent) };
    const claimants = answered(open).filter(({ info }) => findsNames(info));
    if (claimants.length === 0) {
      const why =
        open.length === 0
          ? "no provider's selector matches it"
          : "no provider that it could be of finds machines by name";
      return { kind: "unowned", why: `node ${name} has no provider ID, and ${why}` };
    }
    const names = claimants.map(({ provider }) => provider.name);
    const error = contestedNodeError(name, "it has no provider ID, so each of them has to be asked", names);
    return { kind: "undecided", error, claimants };
  }

  #ownerOfClass(loadBalancerClass: string): ServiceOwner {
    const serving = answered(this.providers).filter(({ info }) => classesOf(info).includes(loadBalancerClass));
    const [owner, ...rivals] = serving;
    if (owner === undefined) return this.#nobody(`no provider serves load-balancer class ${loadBalancerClass}`);
    if (rivals.length > 0) {
      const why = `several providers serve load-balancer class ${loadBalancerClass}`;
      return { kind: "undecided", error: contestedServiceError(why, namesOf(serving)) };
    }
    const silent = this.#rules.isSettled() ? undefined : this.providers.find(({ info }) => info === undefined);
    return silent === undefined ? this.#servedBy(owner) : { kind: "undecided", error: silentError(silent) };
  }

  /** Load balancers of a provider whose nodes cannot be told from another's stay as they are: they would lose them all. */
  #servedBy(owner: Answered): ServiceOwner {
    const rivals = answered(this.providers).filter(
      (other) => other.provider !== owner.provider && !this.#canBeTold(owner, other),
    );
    if (rivals.length === 0) return { kind: "owned", ...owner };
    const why = "several providers have the same provider-ID prefix, so the nodes of a load balancer cannot be told";
    return { kind: "undecided", error: contestedServiceError(why, namesOf([owner, ...rivals])) };
  }

  #canBeTold(left: Answered, right: Answered): boolean {
    const { nodeSelectors } = this.#rules;
    if (nodeSelectors.has(left.provider.name) && nodeSelectors.has(right.provider.name)) return true;
    return !left.info.providerIdPrefixes.some((prefix) => right.info.providerIdPrefixes.includes(prefix));
  }

  #defaultOwner(): ServiceOwner {
    const { defaultLoadBalancerProvider: wanted = this.providers[0]?.name } = this.#rules;
    const provider = this.providers.find(({ name }) => name === wanted);
    if (provider === undefined) return { kind: "unowned", why: "there is no provider" };
    const { info } = provider;
    if (info === undefined) return { kind: "undecided", error: silentError(provider) };
    if (info.capabilities.loadBalancers !== undefined) return this.#servedBy({ provider, info });
    return {
      kind: "unowned",
      why: `Services without class go to provider ${provider.name}, which serves no load balancers`,
    };
  }

  /** Who declares the longest prefix of the ID. */
  #declaring(providerID: string): readonly Answered[] {
    let longest = 1;
    let declaring: readonly Answered[] = [];
    for (const one of answered(this.providers)) {
      const length = prefixLength(one.info, providerID);
      if (length < longest) continue;
      declaring = length === longest ? [...declaring, one] : [one];
      longest = length;
    }
    return declaring;
  }

  #selects({ name }: Provider, { metadata }: Node): boolean {
    const selector = this.#rules.nodeSelectors.get(name);
    return selector !== undefined && matchesSelector(selector, metadata.labels);
  }

  /** Only final once every provider has said what it owns. */
  #nobody(why: string): NodeOwner {
    const silent = this.providers.find(({ info }) => info === undefined);
    return silent === undefined ? { kind: "unowned", why } : { kind: "undecided", error: silentError(silent) };
  }
}

/** Those that have answered the handshake. */
export function answered(providers: readonly Provider[]): readonly Answered[] {
  return providers.flatMap((provider) => {
    const { info } = provider;
    return info === undefined ? [] : [{ provider, info }];
  });
}

/** Classes of load balancers that a provider declares. */
export function classesOf({ capabilities }: ProviderInfo): readonly string[] {
  return capabilities.loadBalancers?.classes ?? [];
}

function namesOf(all: readonly Answered[]): readonly string[] {
  return all.map(({ provider }) => provider.name);
}

function findsNames({ capabilities }: ProviderInfo): boolean {
  return capabilities.instances?.lookupByName === true;
}

/** 0: none of the provider's. */
function prefixLength({ providerIdPrefixes }: ProviderInfo, providerID: string): number {
  let longest = 0;
  for (const prefix of providerIdPrefixes) {
    if (prefix.length > longest && providerID.startsWith(prefix)) longest = prefix.length;
  }
  return longest;
}

function silentError({ name, unavailable }: Provider): ProviderError {
  return unavailable ?? contractError("PROVIDER_STARTING", `provider ${name} has not answered yet`);
}
