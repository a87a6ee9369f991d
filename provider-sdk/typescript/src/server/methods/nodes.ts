import type { Limits } from "@cloudwire/proto/cloudprovider/v1/identity";
import type {
  ApplyNodeSetRequest,
  ApplyNodeSetResponse,
  NodeSelection,
  TargetNode as WireTargetNode,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { fromWireTargetNode } from "../convert/load-balancer.ts";
import type { ProviderIds } from "../convert/provider-ids.ts";
import type { TargetNode, DesiredNodes } from "../../definition/requests.ts";
import { ProviderError } from "../../results/errors.ts";
import { AcknowledgedNodes } from "../../state/acknowledged-nodes.ts";
import { NodeSetStore } from "../../state/node-sets.ts";
import { quote } from "@cloudwire/proto/formats";

/** What a resolver needs. */
export interface NodeResolverOptions {
  readonly ids: ProviderIds;
  readonly limits: Pick<Limits, "maxInlineNodes">;
  /** 0: node sets are not served. */
  readonly maxSets: number;
  readonly nowMs: () => number;
}

/** Most nodes inline where the provider declares nothing. Contract: Limits.max_inline_nodes. */
const defaultMaxInlineNodes = 15_000;

/** Turns node selections, however they travel, into the one thing that a provider sees: the whole list. */
export class NodeResolver {
  readonly #options: NodeResolverOptions;
  readonly #sets: NodeSetStore;
  readonly #acknowledged: AcknowledgedNodes;

  constructor(options: NodeResolverOptions) {
    this.#options = options;
    this.#sets = new NodeSetStore(options);
    this.#acknowledged = new AcknowledgedNodes(options.nowMs);
  }

  /** Takes one chunk of a node set. */
  apply(request: ApplyNodeSetRequest): ApplyNodeSetResponse {
    return this.#sets.apply({ ...request, upserts: request.upserts.map((node) => this.#convert(node)) });
  }

  /** The nodes of a selection; throws rather than answer "none" for one that cannot be resolved. */
  resolve(key: string, selection: NodeSelection | undefined): DesiredNodes {
    if (!selection) throw new ProviderError("FIELD_MISSING", "nodes is required", { field: "nodes" });
    const nodes = this.#find(key, selection);
    if (nodes.length !== selection.count) {
      const message = `nodes.count is ${selection.count}, but the selection has ${nodes.length} nodes; send them whole`;
      throw new ProviderError("NODE_SET_INTEGRITY", message, { field: "nodes.count" });
    }
    const nodesDiff = this.#acknowledged.diff(key, nodes);
    return {
      nodes,
      nodesFingerprint: selection.fingerprint,
      ...(nodesDiff ? { nodesDiff } : {}),
    };
  }

  /** Remembers that a load balancer has these nodes. */
  acknowledge(key: string, wanted: DesiredNodes): void {
    this.#acknowledged.set(key, { fingerprint: wanted.nodesFingerprint, nodes: wanted.nodes });
  }

  /** Forgets a load balancer. */
  forget(key: string): void {
    this.#acknowledged.delete(key);
  }

  #find(key: string, selection: NodeSelection): readonly TargetNode[] {
    const { source } = selection;
    switch (source?.$case) {
      case "inline":
        return this.#inline(source.value.nodes);
      case "nodeSetId":
        return this.#fromSet(source.value, selection.fingerprint);
      case "unchanged":
        return this.#unchanged(key, selection.fingerprint);
      case undefined:
        throw new ProviderError("FIELD_MISSING", "nodes.source is required", { field: "nodes.source" });
      default:
        throw new TypeError(`unknown node source ${JSON.stringify(source satisfies never)}`);
    }
  }

  #inline(nodes: readonly WireTargetNode[]): readonly TargetNode[] {
    const field = "nodes.inline.nodes";
    const most = this.#options.limits.maxInlineNodes || defaultMaxInlineNodes;
    if (nodes.length > most)
      throw new ProviderError("FIELD_TOO_LARGE", `${field} has ${nodes.length} nodes; at most ${most} are taken`, {
        field,
      });
    const firstAt = new Map<string, number>();
    for (const [index, { providerId }] of nodes.entries()) {
      const earlier = firstAt.get(providerId);
      if (earlier !== undefined) throw duplicate(`${field}[${index}].provider_id`, providerId, `${field}[${earlier}]`);
      firstAt.set(providerId, index);
    }
    return nodes.map((node) => this.#convert(node));
  }

  #fromSet(id: string, fingerprint: string): readonly TargetNode[] {
    const set = this.#options.maxSets > 0 ? this.#sets.get(id) : undefined;
    if (set?.fingerprint === fingerprint) return set.nodes;
    const state = set ? `held at fingerprint ${quote(set.fingerprint)}` : "not known here";
    throw new ProviderError(
      "NODE_SET_UNKNOWN",
      `node set ${quote(id)} is ${state}; upload it at ${quote(fingerprint)}`,
      {
        metadata: { node_set_id: id, fingerprint: set?.fingerprint ?? "" },
      },
    );
  }

  #unchanged(key: string, fingerprint: string): readonly TargetNode[] {
    const known = this.#acknowledged.get(key);
    if (known?.fingerprint === fingerprint) return known.nodes;
    const state = known ? `have fingerprint ${quote(known.fingerprint)}` : "are not known here";
    const message = `the nodes of this load balancer ${state}, not ${quote(fingerprint)}; send them whole`;
    throw new ProviderError("NODES_FINGERPRINT_MISMATCH", message, {
      metadata: { fingerprint: known?.fingerprint ?? "" },
    });
  }

  #convert(node: WireTargetNode): TargetNode {
    return fromWireTargetNode(node, this.#options.ids);
  }
}

const duplicate = (field: string, providerId: string, earlier: string): ProviderError =>
  new ProviderError("FIELD_INVALID", `${field} is ${quote(providerId)}, as ${earlier} is already`, { field });
