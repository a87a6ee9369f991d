import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/lister.ts";
import type { NodeSelection } from "../../provider/client.ts";
import { nodeSelection } from "../../provider/convert/fingerprint.ts";
import { targetNode } from "../../provider/convert/node.ts";
import type { ProviderInfo } from "../../provider/provider-info.ts";
import type { ProviderSet } from "../../provider/provider-set.ts";
import { isTarget } from "./predicates.ts";

export interface TargetsDependencies {
  readonly nodes: Lister<Node>;
  readonly providers: Pick<ProviderSet, "ownerOfNode">;
}

interface Cached {
  readonly info: ProviderInfo;
  readonly revision: number;
  readonly selection: NodeSelection;
}

/**
 * The nodes that load balancers of a provider forward to: all of its own, the same for every Service. Made once for each change of
 * nodes, however many Services ask.
 */
export class Targets {
  readonly #deps: TargetsDependencies;
  readonly #cache = new Map<string, Cached>();
  #revision = 0;

  constructor(dependencies: TargetsDependencies) {
    this.#deps = dependencies;
  }

  /** Nodes have changed: they are looked at again. */
  changed(): void {
    this.#revision++;
  }

  of(provider: string, info: ProviderInfo): NodeSelection {
    const cached = this.#cache.get(provider);
    if (cached !== undefined && cached.info === info && cached.revision === this.#revision) return cached.selection;
    const selection = nodeSelection(this.#targets(provider, info));
    this.#cache.set(provider, { info, revision: this.#revision, selection });
    return selection;
  }

  #targets(provider: string, info: ProviderInfo): readonly NonNullable<ReturnType<typeof targetNode>>[] {
    const { nodes, providers } = this.#deps;
    return [...nodes.list()].flatMap((node) => {
      if (!isTarget(node)) return [];
      const owner = providers.ownerOfNode(node);
      const target = owner.kind === "owned" && owner.provider.name === provider ? targetNode(node, info) : undefined;
      return target === undefined ? [] : [target];
    });
  }
}
