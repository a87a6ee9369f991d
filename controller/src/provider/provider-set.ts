import type { Node } from "../api/node.ts";
import type { Service } from "../api/service.ts";
import type { ProviderClient } from "./client.ts";
import type { ProviderError } from "./errors.ts";
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
