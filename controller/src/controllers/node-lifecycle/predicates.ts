import { APPROVE_DELETION, NODE_DELETION_PROTECTION } from "../../api/annotations.ts";
import { type Node, type NodeCondition, READY, type Taint } from "../../api/node.ts";
import { isClearlyFalse } from "../../api/service.ts";
import { SHUTDOWN, TO_BE_DELETED_BY_CLUSTER_AUTOSCALER } from "../../api/well-known.ts";

/** Without the condition the Node is not Ready: its kubelet has never reported. */
export function isReady(node: Node): boolean {
  return readyCondition(node)?.status === "True";
}

/** When the Ready condition last changed; without one, the Node's creation. */
export function notReadySinceMs(node: Node): number {
  return readyCondition(node)?.lastTransitionTimeMs ?? node.metadata.creationTimestampMs;
}

/** Key and effect identify the taint, as upstream. */
export function isShutdownTaint({ key, effect }: Taint): boolean {
  return key === SHUTDOWN && effect === "NoSchedule";
}

export function isShutDown({ spec }: Node): boolean {
  return spec.taints.some(isShutdownTaint);
}

/** An operator approved the deletion of this Node although the circuit breaker is open. */
export function isApproved({ metadata }: Node): boolean {
  return metadata.annotations[APPROVE_DELETION] === "true";
}

/** An operator protects the Node: it is never deleted here. */
export function isProtected({ metadata }: Node): boolean {
  const value = metadata.annotations[NODE_DELETION_PROTECTION];
  return value !== undefined && !isClearlyFalse(value);
}

/** The autoscaler deletes the instance, so that its absence does not indicate wrong data. */
export function isBeingScaledDown({ spec }: Node): boolean {
  return spec.taints.some(({ key }) => key === TO_BE_DELETED_BY_CLUSTER_AUTOSCALER);
}

/** Not Ready, or Ready with a taint or annotation of the time when it was not. */
export function needsLookup(node: Node): boolean {
  return !isReady(node) || isShutDown(node) || APPROVE_DELETION in node.metadata.annotations;
}

/**
 * The change needs an immediate lookup. Our own taint on a Node that is not Ready does not, nor does a provider ID: the cloud has just
 * found that instance.
 */
export function changesReconcile(old: Node, node: Node): boolean {
  if (!needsLookup(node)) return needsLookup(old);
  return (
    old.metadata.uid !== node.metadata.uid ||
    isReady(old) !== isReady(node) ||
    notReadySinceMs(old) !== notReadySinceMs(node) ||
    isApproved(old) !== isApproved(node) ||
    isProtected(old) !== isProtected(node) ||
    isBeingScaledDown(old) !== isBeingScaledDown(node) ||
    (isReady(node) && !needsLookup(old))
  );
}

function readyCondition({ status }: Node): NodeCondition | undefined {
  return status.conditions.find(({ type }) => type === READY);
}

/** Its deletion is approved or expected, so that the circuit breaker does not count it. */
export function isExempt(node: Node): boolean {
  return isApproved(node) || isBeingScaledDown(node);
}

/** Distinguishes a Node and its instance from others with the same name. */
export function identityOf({ metadata, spec }: Node): string {
  return `${metadata.uid} ${spec.providerID}`;
}
