import type { EventInput } from "../../api/event.ts";
import { PROVIDER_CHANGE, PROVIDER_CHANGE_FAILED } from "../../api/event-reasons.ts";
import type { ObjectReference } from "../../api/meta.ts";
import type { AuditedRoute, AuditLine } from "./audit.ts";

/** On the Service whose load balancer a call was about. */
export function loadBalancerCalled(line: AuditLine, service: NonNullable<AuditLine["service"]>): EventInput {
  return event({ apiVersion: "v1", kind: "Service", ...service }, line, "");
}

/** On the Node to which a route leads. */
export function routeCalled(line: AuditLine, { node, destinationCidr, code, reason }: AuditedRoute): EventInput {
  // As kubelet refers to its Node: kubectl describe looks for both.
  const regarding = { apiVersion: "v1", kind: "Node", namespace: "", name: node, uid: node };
  const own = code === undefined ? line : { ...line, code, reason };
  return event(regarding, own, ` of route ${destinationCidr}`);
}

/** With the ids by which the cloud's own log is searched, which make each one an event of its own. */
function event(regarding: ObjectReference, line: AuditLine, what: string): EventInput {
  const { provider, method, trigger, code, reason, requestId, cloudRequestIds } = line;
  const isDone = code === "OK";
  const why = trigger === undefined ? "" : ` (${trigger})`;
  const ids = cloudRequestIds.length === 0 ? "" : `, at the cloud ${cloudRequestIds.join(", ")}`;
  return {
    regarding,
    type: isDone ? "Normal" : "Warning",
    reason: isDone ? PROVIDER_CHANGE : PROVIDER_CHANGE_FAILED,
    message: `${method}${what} at provider ${provider}${why}: ${code}${reason === undefined ? "" : ` ${reason}`}; request ${requestId}${ids}`,
  };
}
