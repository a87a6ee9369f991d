import {
  DELETING_NODE,
  DELETING_NODE_FAILED,
  type EventInput,
  NODE_DELETION_DELAYED,
  TOO_MANY_NODE_DELETIONS,
} from "../../api/event.ts";
import { APPROVE_DELETION } from "../../api/annotations.ts";
import { type Node, nodeReference } from "../../api/node.ts";
import type { Delay } from "./guard/guard.ts";

/** Upstream's words. */
export function deletingNode(node: Node): EventInput {
  const message = `Deleting node ${node.metadata.name} because it does not exist in the cloud provider`;
  return { regarding: nodeReference(node), type: "Normal", reason: DELETING_NODE, message };
}

/** Upstream's words. */
export function deletingNodeFailed(node: Node, why: string): EventInput {
  const message = `Failed deleting node ${node.metadata.name}: ${why}`;
  return { regarding: nodeReference(node), type: "Warning", reason: DELETING_NODE_FAILED, message };
}

export function nodeDeletionDelayed(node: Node, { reason, message }: Delay): EventInput {
  const regarding = nodeReference(node);
  if (reason === "tooManyNodeDeletions") {
    const command = `kubectl annotate node ${node.metadata.name} ${APPROVE_DELETION}=true`;
    const text = `Node is not deleted: ${message}. If the instances no longer exist, approve the deletion: ${command}`;
    return { regarding, type: "Warning", reason: TOO_MANY_NODE_DELETIONS, message: text };
  }
  const text = `Node is not deleted: ${message} (re-evaluated automatically)${isProvidersFault(reason) ? ". To fix: check that the provider is healthy" : ""}`;
  return { regarding, type: "Warning", reason: NODE_DELETION_DELAYED, message: text };
}

function isProvidersFault(reason: Delay["reason"]): boolean {
  return reason === "providerUntrusted" || reason === "providerErrors";
}
