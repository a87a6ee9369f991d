import { CIDR_ASSIGNMENT_FAILED, CIDR_NOT_AVAILABLE, type EventInput } from "../../api/event.ts";
import { type Node, nodeReference } from "../../api/node.ts";

/** Upstream's type and words. */
export function cidrNotAvailable(node: Node): EventInput {
  return statusIsNow(node, CIDR_NOT_AVAILABLE);
}

/** With the reason: only the cloud knows it. */
export function cloudCidrNotAvailable(node: Node, why: string): EventInput {
  const { message, ...event } = statusIsNow(node, CIDR_NOT_AVAILABLE);
  return { ...event, message: `${message}: ${why}` };
}

/** Upstream's type and words. */
export function cidrAssignmentFailed(node: Node): EventInput {
  return statusIsNow(node, CIDR_ASSIGNMENT_FAILED);
}

/** kubernetes/pkg/controller/util/node/controller_utils.go v1.36.3, RecordNodeStatusChange. */
function statusIsNow(node: Node, reason: string): EventInput {
  const message = `Node ${node.metadata.name} status is now: ${reason}`;
  return { regarding: nodeReference(node), type: "Normal", reason, message };
}
