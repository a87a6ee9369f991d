import type { Node } from "../../api/node.ts";
import type { NodeOwner, ProviderSet } from "../model/provider.ts";

/** The lane of what no provider is responsible for, or not yet one. */
const NO_PROVIDER = "";

/**
 * The lane in a workqueue of what a provider owns: one whose cloud hangs has all workers of its own waiting, and none of another's.
 * @param owner undefined: the object is gone
 */
export function laneOf(owner: NodeOwner | undefined): string {
  return owner?.kind === "owned" ? owner.provider.name : NO_PROVIDER;
}

/** {@link laneOf} for keys of Nodes. */
export function nodeLanes(
  nodes: { get(key: string): Node | undefined },
  providers: Pick<ProviderSet, "ownerOfNode">,
): (key: string) => string {
  return (key) => {
    const node = nodes.get(key);
    return laneOf(node && providers.ownerOfNode(node));
  };
}

/** Workers that fill every lane. */
export function workersFor({ providers }: Pick<ProviderSet, "providers">, limit: number): number {
  return limit * (providers.length + 1);
}
