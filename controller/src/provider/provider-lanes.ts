import type { Node } from "../api/node.ts";
import type { NodeOwner, Provider, ProviderSet } from "./provider-set.ts";

/** Of keys that no provider is responsible for, or not yet one. */
export const NO_PROVIDER = "";

/**
 * Lanes of a workqueue by provider, so that one whose cloud hangs has all its own workers waiting and none of another's.
 * @param ownerOf whose the object behind a key is; undefined: there is none any more
 */
export function lanesByOwner(
  ownerOf: (key: string) => NodeOwner | undefined,
  limit: number,
): { readonly laneOf: (key: string) => string; readonly limit: number } {
  const laneOf = (key: string): string => {
    const owner = ownerOf(key);
    return owner?.kind === "owned" ? owner.provider.name : NO_PROVIDER;
  };
  return { laneOf, limit };
}

/** {@link lanesByOwner} for keys of Nodes. */
export function nodeLanes(
  nodes: { get(key: string): Node | undefined },
  providers: Pick<ProviderSet, "ownerOfNode">,
  limit: number,
): ReturnType<typeof lanesByOwner> {
  return lanesByOwner((key) => {
    const node = nodes.get(key);
    return node && providers.ownerOfNode(node);
  }, limit);
}

/** Workers that are enough to fill every lane. */
export function workersFor(providers: readonly Provider[], limit: number): number {
  return limit * (providers.length + 1);
}
