import type { EventInput, EventType } from "../../api/event.ts";
import {
  INITIALIZE_NODE_DELAYED,
  INITIALIZE_NODE_FAILED,
  NODE_DIFFERS_FROM_CLOUD,
  PROVIDER_ID_MISMATCH,
  SYNCED,
} from "../../api/event-reasons.ts";
import { type Node, nodeReference } from "../../api/node.ts";
import type { Difference } from "./plan/field-policies.ts";

/** The Node has the cloud's facts and has lost its taint. */
export function synced(node: Node): EventInput {
  return event(node, "Normal", SYNCED, "Node synced successfully");
}

/** Why the Node keeps its taint, and that waiting does not help. */
export function initializeNodeFailed(node: Node, why: string): EventInput {
  return event(node, "Warning", INITIALIZE_NODE_FAILED, `Node is not initialized: ${why}`);
}

/** Why the Node still has its taint; it is tried again. */
export function initializeNodeDelayed(node: Node, why: string): EventInput {
  return event(node, "Warning", INITIALIZE_NODE_DELAYED, `Node is not initialized yet: ${why}`);
}

/** What the Node does not show of what its cloud says, and why not. */
export function differs(node: Node, { field, message }: Difference): EventInput {
  return event(node, "Warning", field === "providerID" ? PROVIDER_ID_MISMATCH : NODE_DIFFERS_FROM_CLOUD, message);
}

function event(node: Node, type: EventType, reason: string, message: string): EventInput {
  return { regarding: nodeReference(node), type, reason, message };
}
