import { PROVIDED_NODE_IP } from "../../api/annotations.ts";
import type { Node } from "../../api/node.ts";
import { UNINITIALIZED } from "../../api/taints.ts";
import { deepEqual } from "../../util/equal.ts";

/** The Node waits for the cloud's facts. Only the taint's key counts, as upstream. */
export function isUninitialized({ spec }: Node): boolean {
  return spec.taints.some(({ key }) => key === UNINITIALIZED);
}

/**
 * A change that can make a difference to this controller: to where the machine is looked up, to what was asked of its addresses,
 * to taints or labels. Heartbeats make none: a Node that still waits is tried again by back-off, not by its kubelet's clock.
 */
export function changesReconcile(old: Node, node: Node): boolean {
  return (
    old.metadata.uid !== node.metadata.uid ||
    old.spec.providerID !== node.spec.providerID ||
    isUninitialized(old) !== isUninitialized(node) ||
    old.metadata.annotations[PROVIDED_NODE_IP] !== node.metadata.annotations[PROVIDED_NODE_IP] ||
    !deepEqual(old.metadata.labels, node.metadata.labels)
  );
}
