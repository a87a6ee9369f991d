import type { Node } from "../../api/node.ts";

/** A Node that is going gets none: they would be lost with it. */
export function needsRanges({ metadata, spec }: Node): boolean {
  return spec.podCIDRs.length === 0 && metadata.deletionTimestampMs === undefined;
}

/** A change after which the Node needs ranges, needs none any more, or is found at the cloud by another ID. */
export function changesNeed(old: Node, node: Node): boolean {
  if (needsRanges(old) !== needsRanges(node)) return true;
  return needsRanges(node) && (old.metadata.uid !== node.metadata.uid || old.spec.providerID !== node.spec.providerID);
}
