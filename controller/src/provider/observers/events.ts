import { type EventInput, PROVIDER_CHANGE, PROVIDER_CHANGE_FAILED } from "../../api/event.ts";
import type { ObjectReference } from "../../api/meta.ts";

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

export function loadBalancerCalled(
  line: ReportedChange,
  service: { readonly namespace: string; readonly name: string; readonly uid: string },
): EventInput {
  return event({ apiVersion: "v1", kind: "Service", ...service }, line, "");
}

export function routeCalled(line: ReportedChange, { node, destinationCidr, code, reason }: ReportedRoute): EventInput {
  // As in kubelet's events: kubectl describe searches for both.
  const regarding = { apiVersion: "v1", kind: "Node", namespace: "", name: node, uid: node };
  const own = code === undefined ? line : { ...line, code, reason };
  return event(regarding, own, ` of route ${destinationCidr}`);
}

/** Contains the IDs for searching the cloud's log, which make each event unique. */
function event(regarding: ObjectReference, line: ReportedChange, what: string): EventInput {
  const { provider, method, trigger, code, reason, requestID, cloudRequestIDs } = line;
  const isDone = code === "OK";
  const cause = trigger === undefined ? "" : ` (${trigger})`;
  const ids = cloudRequestIDs.length === 0 ? "" : `, cloud requests ${cloudRequestIDs.join(", ")}`;
  return {
    regarding,
    type: isDone ? "Normal" : "Warning",
    reason: isDone ? PROVIDER_CHANGE : PROVIDER_CHANGE_FAILED,
    keepsIDs: true,
    message: `${method}${what} at provider ${provider}${cause}: ${code}${reason === undefined ? "" : ` ${reason}`}; request ${requestID}${ids}`,
  };
}
