import { CLOUD_LABELS, PROVIDED_NODE_IP } from "../../api/annotations.ts";
import type { Node } from "../../api/node.ts";
import { UNINITIALIZED } from "../../api/well-known.ts";
import { deepEqual } from "../../util/equal.ts";

/** The Node waits for initialization. Only the taint's key counts, as upstream. */
export function isUninitialized({ spec }: Node): boolean {
  return spec.taints.some(({ key }) => key === UNINITIALIZED);
}

/** Name and only value of the index of uninitialized Nodes. */
export const WAITING = "uninitialized";

export function waitingIndex(node: Node): readonly string[] {
  return isUninitialized(node) ? [WAITING] : [];
}

const OWN_ANNOTATIONS = [PROVIDED_NODE_IP, CLOUD_LABELS];

/**
 * The change can affect this controller. Heartbeats cannot: a waiting Node is retried by back-off, not by its kubelet's clock.
 *
 * @param declared annotations by which providers find instances; they matter only to a waiting Node
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
