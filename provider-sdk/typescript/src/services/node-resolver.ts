import type { NodeSelection } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { fromWireTargetNode } from "../convert/load-balancer.ts";
import type { ProviderIds } from "../convert/provider-ids.ts";
import type { WantedNodes } from "../definition/load-balancers.ts";
import { ProviderError } from "../errors/provider-error.ts";

/** Turns node selections into node lists. */
export class NodeResolver {
  readonly #ids: ProviderIds;

  constructor(ids: ProviderIds) {
    this.#ids = ids;
  }

  /** The nodes of a selection; throws rather than answer "none" for one that cannot be resolved. */
  resolve(_key: string, selection: NodeSelection | undefined): WantedNodes {
    if (selection?.source?.$case !== "inline")
      throw new ProviderError("FIELD_MISSING", "nodes.source is required", { field: "nodes.source" });
    const nodes = selection.source.value.nodes.map((node) => fromWireTargetNode(node, this.#ids));
    return { nodes, nodesFingerprint: selection.fingerprint };
  }

  /** Remembers that a load balancer has the nodes of this fingerprint. */
  acknowledge(_key: string, _fingerprint: string): void {
    // Replaced with the node-set store.
  }

  /** Forgets a load balancer. */
  forget(_key: string): void {
    // Replaced with the node-set store.
  }
}
