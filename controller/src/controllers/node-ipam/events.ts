import { CIDR_ASSIGNMENT_FAILED, CIDR_NOT_AVAILABLE, type EventInput } from "../../api/event.ts";
import { type Node, nodeReference } from "../../api/node.ts";

/** Type and text are upstream's. */
export function cidrNotAvailable(node: Node): EventInput {
  return statusIsNow(node, CIDR_NOT_AVAILABLE);
}

export function cloudCidrNotAvailable(node: Node, detail: string): EventInput {
  const { message, ...event } = statusIsNow(node, CIDR_NOT_AVAILABLE);
  return { ...event, message: `${message}: ${detail}` };
}

export function cidrAssignmentFailed(node: Node): EventInput {
  return statusIsNow(node, CIDR_ASSIGNMENT_FAILED);
}

/** kubernetes/pkg/controller/util/node/controller_utils.go v1.36.3, RecordNodeStatusChange. */
function statusIsNow(node: Node, reason: string): EventInput {
  const message = `Node ${node.metadata.name} status is now: ${reason}`;
  return { regarding: nodeReference(node), type: "Normal", reason, message };
}
