import type { Node } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import { nodeOwner } from "./provider-set.ts";
import {
  NO_RULES,
  type NodeOwner,
  type Ownership,
  type OwnershipRules,
  type Provider,
  type ProviderSet,
  type ServiceOwner,
} from "../model/provider.ts";
import { serviceOwner } from "./service-owner.ts";

/**
 * Nodes go by provider-ID prefix; without ID by the operator's selectors, then to the one provider that knows the machine. Services go
 * by class, else to the default provider. docs/explanation/several-providers.md says why.
 */
export class PrefixProviderSet implements ProviderSet {
  readonly #ownership: Ownership;

  constructor(providers: readonly Provider[], rules: OwnershipRules = NO_RULES) {
    this.#ownership = { providers, rules };
  }

  get providers(): readonly Provider[] {
    return this.#ownership.providers;
  }

  ownerOfNode(node: Node): NodeOwner {
    return nodeOwner(node, this.#ownership);
  }

  ownerOfService(service: Service): ServiceOwner {
    return serviceOwner(service, this.#ownership);
  }
}
