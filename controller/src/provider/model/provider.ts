import type { LabelSelector } from "../../api/labels.ts";
import type { Node } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import type { ProviderClient } from "./client.ts";
import { type ProviderError, contractError } from "./errors.ts";
import type { ProviderInfo } from "./info.ts";

/** One sidecar: who it is and how to call it. */
export interface Provider {
  /** Name from the options, the same before and after the handshake; label of metrics and logs. */
  readonly name: string;
  readonly client: ProviderClient;
  /** Answer to the last handshake; undefined before the first. Kept while the connection is lost. */
  readonly info: ProviderInfo | undefined;
  /** Why it cannot be called now; undefined when it can. */
  readonly unavailable: ProviderError | undefined;
  /** Why no absence it reports is to be believed now: no connection, scope, credentials or cloud not trusted. undefined: no reason known. */
  readonly untrustedReason: string | undefined;
}

/** A provider that has answered the handshake. */
export interface Answered {
  readonly provider: Provider;
  readonly info: ProviderInfo;
}

/** Whose a Node is. */
export type NodeOwner =
  | ({
      readonly kind: "owned";
      /** A provider that has not answered yet and may declare a longer prefix of the Node's ID: nothing may be destroyed until then. */
      readonly unheard?: string;
    } & Answered)
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
  /** Every provider has had the time to answer after the start. Until then one that is silent may serve a class or own nodes, too. */
  readonly isSettled: () => boolean;
}

/** All that ownership is decided by, besides the object. */
export interface Ownership {
  readonly providers: readonly Provider[];
  readonly rules: OwnershipRules;
}

export const NO_RULES: OwnershipRules = {
  nodeSelectors: new Map(),
  defaultLoadBalancerProvider: undefined,
  isSettled: () => true,
};

/** Those that have answered the handshake. */
export function answered(providers: readonly Provider[]): readonly Answered[] {
  return providers.flatMap((provider) => {
    const { info } = provider;
    return info === undefined ? [] : [{ provider, info }];
  });
}

/** The first that has not. */
export function firstSilent(providers: readonly Provider[]): Provider | undefined {
  return providers.find(({ info }) => info === undefined);
}

export function namesOf(all: readonly Answered[]): readonly string[] {
  return all.map(({ provider }) => provider.name);
}

/** Why a provider has not answered. */
export function silentError({ name, unavailable }: Provider): ProviderError {
  return unavailable ?? contractError("PROVIDER_STARTING", `provider ${name} has not answered yet`);
}

/** That something is nobody's is final only once every provider has said what it owns. */
export function nobody(why: string, providers: readonly Provider[]): NodeOwner {
  const silent = firstSilent(providers);
  return silent === undefined ? { kind: "unowned", why } : { kind: "undecided", error: silentError(silent) };
}
