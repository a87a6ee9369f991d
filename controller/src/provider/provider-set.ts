import type { Node } from "../api/node.ts";
import type { Service } from "../api/service.ts";
import type { ProviderClient } from "./client.ts";
import { contractError, type ProviderError } from "./errors.ts";
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

/** Whose a Node is. */
export type NodeOwner =
  | { readonly kind: "owned"; readonly provider: Provider; readonly info: ProviderInfo }
  /** Nobody's: leave it alone. */
  | { readonly kind: "unowned"; readonly why: string }
  /** Cannot be said before a provider has answered. */
  | { readonly kind: "undecided"; readonly error: ProviderError };

/** Whose load balancer a Service wants. */
export type ServiceOwner = NodeOwner;

/** The providers of this process and who owns what. */
export interface ProviderSet {
  readonly providers: readonly Provider[];
  ownerOfNode(node: Node): NodeOwner;
  ownerOfService(service: Service): ServiceOwner;
}

/** Routes by provider-ID prefix; a Node without ID goes to the one provider that finds machines by name. Services go by class, else to the only provider. */
export class PrefixProviderSet implements ProviderSet {
  readonly providers: readonly Provider[];

  constructor(providers: readonly Provider[]) {
    this.providers = providers;
  }

  ownerOfNode({ metadata, spec }: Node): NodeOwner {
    const { providerID } = spec;
    if (providerID !== "") {
      const owner = this.#find((info) => info.providerIdPrefixes.some((prefix) => providerID.startsWith(prefix)));
      return owner ?? this.#nobody(`no provider has the prefix of ${providerID}`);
    }
    // Which of several has the machine only their answers can tell (proto/README.md ABS-8): until then nobody gets it.
    if (this.providers.length > 1) {
      return this.#nobody(`node ${metadata.name} has no provider ID, and several providers could be meant`);
    }
    const owner = this.#find((info) => info.capabilities.instances?.lookupByName === true);
    return owner ?? this.#nobody(`node ${metadata.name} has no provider ID, and no provider finds machines by name`);
  }

  ownerOfService({ spec }: Service): ServiceOwner {
    const { loadBalancerClass } = spec;
    if (loadBalancerClass !== undefined) {
      const owner = this.#find((info) => info.capabilities.loadBalancers?.classes.includes(loadBalancerClass) === true);
      return owner ?? this.#nobody(`no provider serves load-balancer class ${loadBalancerClass}`);
    }
    const owner = this.#find((info) => info.capabilities.loadBalancers !== undefined);
    return owner ?? this.#nobody("no provider serves load balancers");
  }

  #find(owns: (info: ProviderInfo) => boolean): NodeOwner | undefined {
    for (const provider of this.providers) {
      const { info } = provider;
      if (info !== undefined && owns(info)) return { kind: "owned", provider, info };
    }
    return undefined;
  }

  /** Only final once every provider has said what it owns. */
  #nobody(why: string): NodeOwner {
    const silent = this.providers.find(({ info }) => info === undefined);
    if (silent === undefined) return { kind: "unowned", why };
    const error =
      silent.unavailable ?? contractError("PROVIDER_STARTING", `provider ${silent.name} has not answered yet`);
    return { kind: "undecided", error };
  }
}
