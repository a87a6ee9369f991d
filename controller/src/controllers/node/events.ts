import type { EventInput } from "../../api/event.ts";
import { SYNCED } from "../../api/event-reasons.ts";
import { type Node, nodeReference } from "../../api/node.ts";

/** Ours; upstream says nothing on the Node. See docs/explanation/differences-from-upstream.md. */
const INITIALIZE_NODE_FAILED = "InitializeNodeFailed";

/** The Node has the cloud's facts and has lost its taint. */
export function synced(node: Node): EventInput {
  return { regarding: nodeReference(node), type: "Normal", reason: SYNCED, message: "Node synced successfully" };
}

/** Why the Node keeps its taint. */
export function initializeNodeFailed(node: Node, why: string): EventInput {
  const message = `Node is not initialized: ${why}`;
  return { regarding: nodeReference(node), type: "Warning", reason: INITIALIZE_NODE_FAILED, message };
}
