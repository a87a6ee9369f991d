import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import type { Clock } from "../../util/clock.ts";

/** A census of 15,000 Nodes takes milliseconds, and as many Nodes may ask for it at once. */
const MAX_AGE_MS = 1000;

/** How many Nodes each provider owns. */
export class Population {
  readonly #nodes: Lister<Node>;
  readonly #providers: ProviderSet;
  readonly #clock: Clock;
  #counts: ReadonlyMap<string, number> = new Map();
  #countedAtMs = Number.NEGATIVE_INFINITY;

  constructor(nodes: Lister<Node>, providers: ProviderSet, clock: Clock) {
    this.#nodes = nodes;
    this.#providers = providers;
    this.#clock = clock;
  }

  of(provider: string): number {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#countedAtMs > MAX_AGE_MS) {
      this.#counts = this.#count();
      this.#countedAtMs = nowMs;
    }
    return this.#counts.get(provider) ?? 0;
  }

  #count(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const node of this.#nodes.list()) {
      const owner = this.#providers.ownerOfNode(node);
      if (owner.kind !== "owned") continue;
      const { name } = owner.provider;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  }
}
