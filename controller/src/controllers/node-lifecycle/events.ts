import {
  DELETING_NODE,
  DELETING_NODE_FAILED,
  type EventInput,
  NODE_DELETION_DELAYED,
  TOO_MANY_NODE_DELETIONS,
} from "../../api/event.ts";
import { APPROVE_DELETION } from "../../api/annotations.ts";
import { type Node, nodeReference } from "../../api/node.ts";
import type { KeptReason } from "./plan.ts";

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

export function nodeDeletionDelayed(
  node: Node,
  { reason, message }: { readonly reason: KeptReason; readonly message: string },
): EventInput {
  const regarding = nodeReference(node);
  if (reason === "tooManyNodeDeletions") {
    const command = `kubectl annotate node ${node.metadata.name} ${APPROVE_DELETION}=true`;
    const text = `Node is not deleted: ${message}. If the instances no longer exist, approve the deletion: ${command}`;
    return { regarding, type: "Warning", reason: TOO_MANY_NODE_DELETIONS, message: text };
  }
  const text = `Node is not deleted: ${LEADS[reason] ?? ""}${message} (re-evaluated automatically)${remedyOf(node, reason)}`;
  const type = reason === "deletionProtected" ? "Normal" : "Warning";
  return { regarding, type, reason: NODE_DELETION_DELAYED, message: text };
}

const LEADS: Readonly<Partial<Record<KeptReason, string>>> = {
  unknown: "it is not Ready, and the state of its instance is unknown: ",
  notOwned: "it is not Ready, and its provider does not own its instance: ",
};

function remedyOf({ metadata }: Node, reason: KeptReason): string {
  switch (reason) {
    case "providerUntrusted":
    case "providerErrors":
    case "unknown":
      return ". To fix: check that the provider is healthy";
    case "noProviderID":
      return `. If its instance no longer exists, delete the Node: kubectl delete node ${metadata.name}`;
    case "notOwned":
      return ". To fix: check the provider ID and the account of the provider";
    case "deletionProtected":
      return ". To delete it, end the protection";
    case "unconfirmed":
    case "confirming":
    case "tooNew":
    case "tooManyNodeDeletions":
      return "";
  }
  return reason satisfies never;
}
