import type { CallOptions, NodeSelection, NodeSetChunk, NodeSetState } from "../model/client.ts";
import { hasReason, isOfClass, type ProviderError } from "../model/errors.ts";
import type { NodeSetCapability } from "../model/info.ts";
import type { TargetNode } from "../model/load-balancer.ts";

/** Uploads one chunk. */
export type Upload = (chunk: NodeSetChunk, options: CallOptions) => Promise<NodeSetState>;

/** Fewer nodes than this are sent as they are: a set is worth its upload where many load balancers have many nodes. */
const MIN_NODES = 100;

/** Most nodes of a chunk, and most removals. proto ApplyNodeSetRequest. */
const CHUNK_NODES = 1000;

/** All nodes of the provider: the only selection there is. */
const SET_ID = "all";

interface Held {
  readonly fingerprint: string;
  readonly nodes: readonly TargetNode[];
}

/** The nodes that load balancers of one provider have in common, uploaded once and then by what has changed. proto/README.md section 9. */
export class NodeSets {
  readonly #upload: Upload;
  /** What the provider has committed, as far as known: a restart forgets it. */
  #held: Held | undefined;
  #uploading: Promise<void> | undefined;

  constructor(upload: Upload) {
    this.#upload = upload;
  }

  /** True: `selection` had better go by reference. */
  isFit({ source, count }: NodeSelection, capability: NodeSetCapability | undefined): boolean {
    return source.kind === "inline" && capability !== undefined && count >= MIN_NODES && count <= capability.maxNodes;
  }

  /** `selection` by reference, uploaded before if need be. Callers that come meanwhile wait for the same upload. */
  async reference(selection: NodeSelection, options: CallOptions): Promise<NodeSelection> {
    while (this.#uploading !== undefined) await this.#uploading.catch(() => undefined);
    if (this.#held?.fingerprint !== selection.fingerprint) {
      this.#uploading = this.#bring(selection, options);
      await this.#uploading.finally(() => {
        this.#uploading = undefined;
      });
    }
    return { ...selection, source: { kind: "nodeSet", id: SET_ID } };
  }

  /** The provider does not know the set. False: it has another one by now, which is not worth fighting over. */
  forget({ fingerprint }: NodeSelection): boolean {
    // Where none is held somebody else has forgotten it before, and may be uploading it.
    if (this.#held !== undefined && this.#held.fingerprint !== fingerprint) return false;
    this.#held = undefined;
    return true;
  }

  async #bring(selection: NodeSelection, options: CallOptions): Promise<void> {
    const { source, fingerprint } = selection;
    const nodes = source.kind === "inline" ? source.nodes : [];
    const held = this.#held;
    this.#held = undefined;
    const change = held && difference(held.nodes, nodes);
    const isSmall = change !== undefined && change.upserts.length + change.removed.length < nodes.length / 2;
    if (held !== undefined && isSmall) {
      try {
        await this.#send(change, held.fingerprint, selection, options);
        this.#held = { fingerprint, nodes };
        return;
      } catch (error) {
        // A base that is not there, or chunks that do not add up: whole, then.
        if (!isOfClass(error, "RESYNC")) throw error;
      }
    }
    await this.#send({ upserts: nodes, removed: [] }, "", selection, options);
    this.#held = { fingerprint, nodes };
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

/** True: the provider could not resolve a selection that was sent by reference, or as unchanged. */
export function isUnresolved(error: unknown): error is ProviderError {
  return (
    hasReason(error, "NODES_FINGERPRINT_MISMATCH") ||
    hasReason(error, "NODE_SET_UNKNOWN") ||
    hasReason(error, "NODE_SET_INTEGRITY")
  );
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
