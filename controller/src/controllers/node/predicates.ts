import { CLOUD_LABELS, PROVIDED_NODE_IP } from "../../api/annotations.ts";
import type { Node } from "../../api/node.ts";
import { UNINITIALIZED } from "../../api/well-known.ts";
import { deepEqual } from "../../util/equal.ts";

/** The Node waits for the cloud's facts. Only the taint's key counts, as upstream. */
export function isUninitialized({ spec }: Node): boolean {
  return spec.taints.some(({ key }) => key === UNINITIALIZED);
}

/** Name of an index of Nodes, and its only value: those that are uninitialized. */
export const WAITING = "uninitialized";

export function waitingIndex(node: Node): readonly string[] {
  return isUninitialized(node) ? [WAITING] : [];
}

/** Annotations of a Node that this controller goes by. */
const OWN_ANNOTATIONS = [PROVIDED_NODE_IP, CLOUD_LABELS];

/**
 * A change that can make a difference to this controller: to where the machine is looked up, to what was asked of its addresses,
 * to taints or labels. Heartbeats make none: a Node that still waits is tried again by back-off, not by its kubelet's clock.
 *
 * @param declared annotations by which providers find machines: they matter to a Node that waits
 */
export function changesReconcile(old: Node, node: Node, declared: readonly string[]): boolean {
  const annotations = isUninitialized(node) ? [...OWN_ANNOTATIONS, ...declared] : OWN_ANNOTATIONS;
  return (
    old.metadata.uid !== node.metadata.uid ||
    old.spec.providerID !== node.spec.providerID ||
    isUninitialized(old) !== isUninitialized(node) ||
    annotations.some((key) => old.metadata.annotations[key] !== node.metadata.annotations[key]) ||
    !deepEqual(old.metadata.labels, node.metadata.labels)
  );
}
