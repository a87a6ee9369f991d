import type { CallOptions, NodeSelection, NodeSetChunk, NodeSetState } from "../model/client.ts";
import { hasReason, isOfClass, type ProviderError } from "../model/errors.ts";
import type { NodeSetCapability } from "../model/info.ts";
import type { TargetNode } from "../model/load-balancer.ts";

export type Upload = (chunk: NodeSetChunk, options: CallOptions) => Promise<NodeSetState>;

/** Fewer nodes are sent inline: the upload of a set pays off for many load balancers with many nodes. */
const MIN_NODES = 100;

/** Largest number of nodes, and of removals, of a chunk. proto ApplyNodeSetRequest. */
const CHUNK_NODES = 1000;

/** All nodes of the provider, the only set. */
const SET_ID = "all";

/** The nodes that the load balancers of a provider share, uploaded once and then as changes. proto/README.md section 9. */
export class NodeSets {
  readonly #upload: Upload;
  /** The set that the provider has committed; lost when it restarts. */
  #committed: { readonly fingerprint: string; readonly nodes: readonly TargetNode[] } | undefined;
  #uploading: Promise<void> | undefined;

  constructor(upload: Upload) {
    this.#upload = upload;
  }

  /** Whether to send `selection` by reference. */
  isFit({ source, count }: NodeSelection, capability: NodeSetCapability | undefined): boolean {
    return source.kind === "inline" && capability !== undefined && count >= MIN_NODES && count <= capability.maxNodes;
  }

  /** `selection` by reference, after an upload if necessary. Concurrent callers share the upload. */
  async reference(selection: NodeSelection, options: CallOptions): Promise<NodeSelection> {
    while (this.#uploading !== undefined) await this.#uploading.catch(() => undefined);
    if (this.#committed?.fingerprint !== selection.fingerprint) {
      this.#uploading = this.#apply(selection, options);
      await this.#uploading.finally(() => {
        this.#uploading = undefined;
      });
    }
    return { ...selection, source: { kind: "nodeSet", id: SET_ID } };
  }

  /** The provider does not know the set. False: it has another one in the meantime. */
  forget({ fingerprint }: NodeSelection): boolean {
    // Without a committed set, another caller has forgotten it before, and may be uploading it.
    if (this.#committed !== undefined && this.#committed.fingerprint !== fingerprint) return false;
    this.#committed = undefined;
    return true;
  }

  async #apply(selection: NodeSelection, options: CallOptions): Promise<void> {
    const { source, fingerprint } = selection;
    const nodes = source.kind === "inline" ? source.nodes : [];
    const base = this.#committed;
    this.#committed = undefined;
    const change = base && difference(base.nodes, nodes);
    const isSmall = change !== undefined && change.upserts.length + change.removed.length < nodes.length / 2;
    if (base !== undefined && isSmall) {
      try {
        await this.#send(change, base.fingerprint, selection, options);
        this.#committed = { fingerprint, nodes };
        return;
      } catch (error) {
        // The base is missing or the chunks do not match: upload the complete set.
        if (!isOfClass(error, "RESYNC")) throw error;
      }
    }
    await this.#send({ upserts: nodes, removed: [] }, "", selection, options);
    this.#committed = { fingerprint, nodes };
  }

  async #send(
    { upserts, removed }: Difference,
    baseFingerprint: string,
    { fingerprint, count }: NodeSelection,
    options: CallOptions,
  ): Promise<void> {
    const chunkCount = Math.max(1, Math.ceil(Math.max(upserts.length, removed.length) / CHUNK_NODES));
    for (let chunkIndex = 0; chunkIndex < chunkCount; chunkIndex += 1) {
      const [from, to] = [chunkIndex * CHUNK_NODES, (chunkIndex + 1) * CHUNK_NODES];
      await this.#upload(
        {
          nodeSetId: SET_ID,
          baseFingerprint,
          targetFingerprint: fingerprint,
          chunkIndex,
          chunkCount,
          upserts: upserts.slice(from, to),
          removedProviderIds: removed.slice(from, to),
          targetCount: count,
        },
        options,
      );
    }
  }
}

/** The provider could not resolve a selection sent by reference or as unchanged. */
export function isUnresolved(error: unknown): error is ProviderError {
  const reasons = ["NODES_FINGERPRINT_MISMATCH", "NODE_SET_UNKNOWN", "NODE_SET_INTEGRITY"] as const;
  return reasons.some((reason) => hasReason(error, reason));
}

interface Difference {
  readonly upserts: readonly TargetNode[];
  /** Provider IDs. */
  readonly removed: readonly string[];
}

function difference(before: readonly TargetNode[], now: readonly TargetNode[]): Difference {
  const left = new Map(before.map((node) => [node.providerId, node]));
  const upserts = now.filter((node) => {
    const known = left.get(node.providerId);
    left.delete(node.providerId);
    return known === undefined || (known !== node && JSON.stringify(known) !== JSON.stringify(node));
  });
  return { upserts, removed: [...left.keys()] };
}
