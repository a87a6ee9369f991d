import type { LabelSelector } from "../../api/labels.ts";
import type { Node } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import type { ProviderChanges, ProviderClient, ProviderReads } from "./client.ts";
import { type ProviderError, contractError } from "./errors.ts";
import type { ProviderInfo } from "./info.ts";

/** One provider: its identity and its client. */
export interface Provider {
  /** Configured name, constant; label of metrics and logs. */
  readonly name: string;
  readonly client: ProviderClient;
  /** The last handshake, also while the connection is lost; undefined before the first. */
  readonly info: ProviderInfo | undefined;
  /** Why it cannot be called; undefined: it can. */
  readonly unavailable: ProviderError | undefined;
  /** Why its absence reports are ignored: connection, scope, credentials or cloud. undefined: trusted. */
  readonly untrustedReason: string | undefined;
}

export interface ReadableProvider extends Omit<Provider, "client"> {
  readonly client: ProviderReads;
}

export interface ChangeableProvider extends Omit<Provider, "client"> {
  readonly client: ProviderChanges;
}

/** A provider after its first handshake. */
export interface Answered {
  readonly provider: Provider;
  readonly info: ProviderInfo;
}

export type NodeOwner =
  | ({
      readonly kind: "owned";
      /** A silent provider that may declare a longer prefix: the Node must not be deleted yet. */
      readonly unheard?: string;
    } & Answered)
  /** No provider owns it: it is not changed. */
  | { readonly kind: "unowned"; readonly why: string }
  /** A provider is silent, or several could own it: it is not changed. */
  | {
      readonly kind: "undecided";
      readonly error: ProviderError;
      /** Providers that can decide it by looking for the instance, see {@link InstanceReader}. */
      readonly claimants?: readonly Answered[];
    };

export type ServiceOwner = NodeOwner;

export interface ProviderSet {
  readonly providers: readonly Provider[];
  ownerOfNode(node: Node): NodeOwner;
  ownerOfService(service: Service): ServiceOwner;
}

/** The operator's ownership rules. */
export interface OwnershipRules {
  /** By provider: selector of its Nodes without provider ID. A provider without selector must look for the instance. */
  readonly nodeSelectors: ReadonlyMap<string, LabelSelector>;
  /** Owns Services without class. undefined: the first provider. */
  readonly defaultLoadBalancerProvider: string | undefined;
  /** All providers have had time to respond after the start. Until then a silent one may own a class or nodes. */
  readonly isSettled: () => boolean;
}

export interface Ownership {
  readonly providers: readonly Provider[];
  readonly rules: OwnershipRules;
}

export const NO_RULES: OwnershipRules = {
  nodeSelectors: new Map(),
  defaultLoadBalancerProvider: undefined,
  isSettled: () => true,
};

export function answered(providers: readonly Provider[]): readonly Answered[] {
  return providers.flatMap((provider) => {
    const { info } = provider;
    return info === undefined ? [] : [{ provider, info }];
  });
}

export function firstSilent(providers: readonly Provider[]): Provider | undefined {
  return providers.find(({ info }) => info === undefined);
}

export function namesOf(all: readonly Answered[]): readonly string[] {
  return all.map(({ provider }) => provider.name);
}

export function silentError({ name, unavailable }: Provider): ProviderError {
  return unavailable ?? contractError("PROVIDER_STARTING", `provider ${name} has not responded yet`);
}

/** Unowned only after all providers have responded. */
export function unowned(why: string, providers: readonly Provider[]): NodeOwner {
  const silent = firstSilent(providers);
  return silent === undefined ? { kind: "unowned", why } : { kind: "undecided", error: silentError(silent) };
}
