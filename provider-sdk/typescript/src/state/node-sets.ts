import type { ApplyNodeSetRequest, ApplyNodeSetResponse } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import type { TargetNode } from "../definition/requests.ts";
import { ProviderError } from "../results/errors.ts";
import { LruMap } from "./lru.ts";
import { quote } from "@cloudwire/proto/formats";

/** A set of nodes in force. */
export interface NodeSet {
  readonly fingerprint: string;
  readonly byProviderId: ReadonlyMap<string, TargetNode>;
  /** The same nodes as a list, made once: many load balancers share it. */
  readonly nodes: readonly TargetNode[];
}

/** One chunk of an upload, converted. */
export type NodeSetChunk = Pick<
  ApplyNodeSetRequest,
  | "nodeSetId"
  | "baseFingerprint"
  | "targetFingerprint"
  | "chunkIndex"
  | "chunkCount"
  | "removedProviderIds"
  | "targetCount"
> & { readonly upserts: readonly TargetNode[] };

/** An upload that lacks chunks. */
interface Staging {
  readonly head: NodeSetChunk;
  readonly chunks: Map<number, NodeSetChunk>;
}

/** An upload whose caller went away is dropped after this. */
const stagingMaxAgeMs = 600_000;

/** Keeps node sets: chunks are staged in any order, nothing is visible before the last missing one, then all at once. */
export class NodeSetStore {
  readonly #sets: LruMap<NodeSet>;
  readonly #staged: LruMap<Staging>;

  constructor(options: { readonly maxSets: number; readonly nowMs: () => number }) {
    const { maxSets, nowMs } = options;
    this.#sets = new LruMap({ maxEntries: maxSets, nowMs });
    this.#staged = new LruMap({ maxEntries: maxSets, maxAgeMs: stagingMaxAgeMs, nowMs });
  }

  /** The set in force under this id. */
  get(id: string): NodeSet | undefined {
    return this.#sets.get(id);
  }

  /** Takes one chunk; throws NODE_SET_BASE_MISMATCH or NODE_SET_INTEGRITY and then commits nothing. */
  apply(chunk: NodeSetChunk): ApplyNodeSetResponse {
    const id = chunk.nodeSetId;
    const held = this.#sets.get(id);
    if (held?.fingerprint === chunk.targetFingerprint && held.nodes.length === chunk.targetCount) {
      this.#staged.delete(id);
      return stateOf(held, true);
    }
    requireBase(chunk, held);
    const staging = this.#stage(chunk);
    if (staging.chunks.size < chunk.chunkCount) return stateOf(held, false);
    this.#staged.delete(id);
    const committed = build(staging, held);
    this.#sets.set(id, committed);
    return stateOf(committed, true);
  }

  /** Chunks of one upload belong together; a chunk of another upload of the same set starts over. */
  #stage(chunk: NodeSetChunk): Staging {
    const current = this.#staged.get(chunk.nodeSetId);
    const staging = current && sameUpload(current.head, chunk) ? current : { head: chunk, chunks: new Map() };
    staging.chunks.set(chunk.chunkIndex, chunk);
    this.#staged.set(chunk.nodeSetId, staging);
    return staging;
  }
}

const stateOf = (set: NodeSet | undefined, committed: boolean): ApplyNodeSetResponse => ({
  fingerprint: set?.fingerprint ?? "",
  count: set?.nodes.length ?? 0,
  committed,
});

const requireBase = (chunk: NodeSetChunk, held: NodeSet | undefined): void => {
  if (chunk.baseFingerprint === "" || chunk.baseFingerprint === held?.fingerprint) return;
  const state = held ? `at fingerprint ${quote(held.fingerprint)}` : "not known here";
  throw new ProviderError(
    "NODE_SET_BASE_MISMATCH",
    `node set ${quote(chunk.nodeSetId)} is ${state}, the difference is against ${quote(chunk.baseFingerprint)}; upload it whole`,
    { metadata: { fingerprint: held?.fingerprint ?? "" } },
  );
};

const sameUpload = (left: NodeSetChunk, right: NodeSetChunk): boolean =>
  left.baseFingerprint === right.baseFingerprint &&
  left.targetFingerprint === right.targetFingerprint &&
  left.chunkCount === right.chunkCount &&
  left.targetCount === right.targetCount;

const build = ({ head, chunks }: Staging, held: NodeSet | undefined): NodeSet => {
  const base = head.baseFingerprint === "" ? new Map<string, TargetNode>() : held?.byProviderId;
  const byProviderId = new Map(base);
  for (const { removedProviderIds } of chunks.values()) for (const id of removedProviderIds) byProviderId.delete(id);
  for (const { upserts } of chunks.values()) for (const node of upserts) byProviderId.set(node.providerId, node);
  if (byProviderId.size !== head.targetCount)
    throw new ProviderError(
      "NODE_SET_INTEGRITY",
      `node set ${quote(head.nodeSetId)} would have ${byProviderId.size} nodes instead of ${head.targetCount}; upload it whole`,
      { metadata: { count: String(byProviderId.size), target_count: String(head.targetCount) } },
    );
  return { fingerprint: head.targetFingerprint, byProviderId, nodes: [...byProviderId.values()] };
};
