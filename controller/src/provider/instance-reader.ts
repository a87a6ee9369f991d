import type { NodeRef } from "@cloudwire/proto/cloudprovider/v1/common";
import type { Node } from "../api/node.ts";
import type { Clock } from "../util/clock.ts";
import type { ReadOptions } from "./client.ts";
import { nodeRef } from "./convert/node.ts";
import type { InstanceAnswer } from "./instance.ts";
import { InstanceBatcher } from "./instance-batcher.ts";
import type { Provider, ProviderSet } from "./provider-set.ts";

/**
 * Looks up the machine behind one Node. Questions that arrive together leave as one call; the same question is asked once;
 * answers are reused for as long as the caller's `maxDataAgeMs` allows.
 */
export interface InstanceReader {
  /**
   * Resolves with what is known; a failed call is the answer "unknown", a Node that no provider owns is "notMine". Rejects
   * only with the reason of `options.signal`, which gives up this caller's wait and nobody else's.
   */
  get(node: Node, options: ReadOptions): Promise<InstanceAnswer>;
}

export interface InstanceReaderDeps {
  readonly providers: ProviderSet;
  readonly clock: Clock;
  /** Ends calls under way; aborts when the process stops. */
  readonly signal: AbortSignal;
  /** Nodes that will probably be asked about soon, whoever owns them. @default none */
  readonly companions?: () => Iterable<Node>;
}

/** One batcher for each provider. */
export class BatchingInstanceReader implements InstanceReader {
  readonly #deps: InstanceReaderDeps;
  readonly #batchers = new Map<Provider, InstanceBatcher>();

  constructor(deps: InstanceReaderDeps) {
    this.#deps = deps;
  }

  async get(node: Node, options: ReadOptions): Promise<InstanceAnswer> {
    const owner = this.#deps.providers.ownerOfNode(node);
    switch (owner.kind) {
      case "owned":
        return this.#batcherOf(owner.provider).ask(nodeRef(node, owner.info), options);
      case "unowned":
        return { kind: "notMine", message: owner.why };
      case "undecided":
        return { kind: "unknown", error: owner.error };
    }
    return owner satisfies never;
  }

  #batcherOf(provider: Provider): InstanceBatcher {
    const known = this.#batchers.get(provider);
    if (known !== undefined) return known;
    const { clock, signal } = this.#deps;
    const batcher = new InstanceBatcher({
      clock,
      signal,
      maxBatchSize: () => provider.info?.capabilities.instances?.maxBatchSize ?? 1,
      companions: () => this.#companionsOf(provider),
      fetch: (nodes, batchOptions) => provider.client.getInstances(nodes, batchOptions),
    });
    this.#batchers.set(provider, batcher);
    return batcher;
  }

  *#companionsOf(provider: Provider): Iterable<NodeRef> {
    for (const node of this.#deps.companions?.() ?? []) {
      const owner = this.#deps.providers.ownerOfNode(node);
      if (owner.kind === "owned" && owner.provider === provider) yield nodeRef(node, owner.info);
    }
  }
}
