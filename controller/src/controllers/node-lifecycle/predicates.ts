import { APPROVE_DELETION } from "../../api/annotations.ts";
import { type Node, type NodeCondition, READY, type Taint } from "../../api/node.ts";
import { SHUTDOWN, TO_BE_DELETED_BY_CLUSTER_AUTOSCALER } from "../../api/well-known.ts";

/** A Node without the condition counts as unknown, and so not Ready: its kubelet never reported. */
export function isReady(node: Node): boolean {
  return readyCondition(node)?.status === "True";
}

/** When the Ready condition became what it is; without one, since the Node's creation. */
export function notReadySinceMs(node: Node): number {
  return readyCondition(node)?.lastTransitionTimeMs ?? node.metadata.creationTimestampMs;
}

/** Key and effect make the taint, as upstream. */
export function isShutdownTaint({ key, effect }: Taint): boolean {
  return key === SHUTDOWN && effect === "NoSchedule";
}

export function isShutDown({ spec }: Node): boolean {
  return spec.taints.some(isShutdownTaint);
}

/** An operator's word that this Node may go although too many go at once. */
export function isApproved({ metadata }: Node): boolean {
  return metadata.annotations[APPROVE_DELETION] === "true";
}

/** The autoscaler takes the machine away: its Node's end is no surprise, and no sign that the cloud's answers are wrong. */
export function isBeingScaledDown({ spec }: Node): boolean {
  return spec.taints.some(({ key }) => key === TO_BE_DELETED_BY_CLUSTER_AUTOSCALER);
}

/** Not Ready, or Ready with leftovers of the time when it was not. */
export function needsLook(node: Node): boolean {
  return !isReady(node) || isShutDown(node) || APPROVE_DELETION in node.metadata.annotations;
}

/**
 * A change that calls for a look at once. Not our own taint on a Node that is not Ready, and not a provider ID: that the cloud has
 * just found the machine is no reason to ask for it.
 */
export function changesReconcile(old: Node, node: Node): boolean {
  if (!needsLook(node)) return needsLook(old);
  return (
    old.metadata.uid !== node.metadata.uid ||
    isReady(old) !== isReady(node) ||
    notReadySinceMs(old) !== notReadySinceMs(node) ||
    isApproved(old) !== isApproved(node) ||
    isBeingScaledDown(old) !== isBeingScaledDown(node) ||
    (isReady(node) && !needsLook(old))
  );
}

function readyCondition({ status }: Node): NodeCondition | undefined {
  return status.conditions.find(({ type }) => type === READY);
}

/** Its deletion is wanted, or foreseen: it is no sign that too many go. */
export function isExempt(node: Node): boolean {
  return isApproved(node) || isBeingScaledDown(node);
}

/** Which Node and which machine something is about: another one under the same name is another subject. */
export function identityOf({ metadata, spec }: Node): string {
  return `${metadata.uid} ${spec.providerID}`;
}
