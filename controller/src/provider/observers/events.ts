import { type EventInput, PROVIDER_CHANGE, PROVIDER_CHANGE_FAILED } from "../../api/event.ts";
import type { ObjectReference } from "../../api/meta.ts";

/** What an event says of a call that may have changed something. */
interface ReportedChange {
  readonly provider: string;
  readonly method: string;
  readonly trigger: string | undefined;
  readonly code: string;
  readonly reason: string | undefined;
  readonly requestID: string;
  readonly cloudRequestIDs: readonly string[];
}

interface ReportedRoute {
  readonly destinationCidr: string;
  readonly node: string;
  /** undefined: the call as a whole failed. */
  readonly code: string | undefined;
  readonly reason: string | undefined;
}

/** On the Service whose load balancer a call was about. */
export function loadBalancerCalled(
  line: ReportedChange,
  service: { readonly namespace: string; readonly name: string; readonly uid: string },
): EventInput {
  return event({ apiVersion: "v1", kind: "Service", ...service }, line, "");
}

/** On the Node to which a route leads. */
export function routeCalled(line: ReportedChange, { node, destinationCidr, code, reason }: ReportedRoute): EventInput {
  // As kubelet refers to its Node: kubectl describe looks for both.
  const regarding = { apiVersion: "v1", kind: "Node", namespace: "", name: node, uid: node };
  const own = code === undefined ? line : { ...line, code, reason };
  return event(regarding, own, ` of route ${destinationCidr}`);
}

/** With the ids by which the cloud's own log is searched, which make each one an event of its own. */
function event(regarding: ObjectReference, line: ReportedChange, what: string): EventInput {
  const { provider, method, trigger, code, reason, requestID, cloudRequestIDs } = line;
  const isDone = code === "OK";
  const why = trigger === undefined ? "" : ` (${trigger})`;
  const ids = cloudRequestIDs.length === 0 ? "" : `, at the cloud ${cloudRequestIDs.join(", ")}`;
  return {
    regarding,
    type: isDone ? "Normal" : "Warning",
    reason: isDone ? PROVIDER_CHANGE : PROVIDER_CHANGE_FAILED,
    message: `${method}${what} at provider ${provider}${why}: ${code}${reason === undefined ? "" : ` ${reason}`}; request ${requestID}${ids}`,
  };
}
