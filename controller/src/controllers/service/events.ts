import { ADOPT_LOAD_BALANCER, DELETION_PROTECTION } from "../../api/annotations.ts";
import * as reasons from "../../api/event.ts";
import type { EventInput, EventType } from "../../api/event.ts";
import { LOAD_BALANCER_REMEDIES } from "../../api/load-balancer-condition.ts";
import { type Service, serviceReference } from "../../api/service.ts";
import type { Diagnostic } from "../../provider/model/load-balancer.ts";

/** Node names shown in an event. cloud-provider/controllers/service/controller.go v0.36.3. */
const MAX_NODE_NAMES = 20;

export const ensuringLoadBalancer = normal(reasons.ENSURING_LOAD_BALANCER, "Ensuring load balancer");

export const ensuredLoadBalancer = normal(reasons.ENSURED_LOAD_BALANCER, "Ensured load balancer");

export const updatedLoadBalancer = normal(reasons.UPDATED_LOAD_BALANCER, "Updated load balancer with new hosts");

export const deletingLoadBalancer = normal(reasons.DELETING_LOAD_BALANCER, "Deleting load balancer");

/** @param remaining what is left, which `detail` names */
export function waitingForDeletion(service: Service, detail: string, remaining: readonly string[]): EventInput {
  const message = `The load balancer is not deleted yet: ${detail}`;
  return { ...event(service, "Normal", reasons.LOAD_BALANCER_DELETION_WAITING, message), about: remaining };
}

export const deletedLoadBalancer = normal(reasons.DELETED_LOAD_BALANCER, "Deleted load balancer");

export function adoptingLoadBalancer(service: Service, id: string): EventInput {
  const message = `Adopting load balancer ${id} as requested by annotation ${ADOPT_LOAD_BALANCER}`;
  return event(service, "Normal", reasons.ADOPTING_LOAD_BALANCER, message);
}

export function deletedPreviousLoadBalancer(service: Service, provider: string, loadBalancerId: string): EventInput {
  const message = `Deleted load balancer ${loadBalancerId} of previous provider ${provider}`;
  return event(service, "Normal", reasons.DELETED_PREVIOUS_LOAD_BALANCER, message);
}

export function unavailableLoadBalancer(service: Service): EventInput {
  return warning(service, reasons.UNAVAILABLE_LOAD_BALANCER, "There are no available nodes for LoadBalancer");
}

export function syncLoadBalancerFailed(service: Service, error: string): EventInput {
  return warning(service, reasons.SYNC_LOAD_BALANCER_FAILED, `Error syncing load balancer: ${error}`);
}

export function deleteLoadBalancerFailed(service: Service, error: string): EventInput {
  return warning(service, reasons.DELETE_LOAD_BALANCER_FAILED, `Error deleting load balancer: ${error}`);
}

export function deletePreviousLoadBalancerFailed(service: Service, provider: string, error: string): EventInput {
  const message = `Error deleting the load balancer of previous provider ${provider}: ${error}`;
  return warning(service, reasons.DELETE_PREVIOUS_LOAD_BALANCER_FAILED, message);
}

export function updateLoadBalancerFailed(service: Service, nodeNames: readonly string[], error: string): EventInput {
  const sorted = nodeNames.toSorted();
  const left = sorted.length - MAX_NODE_NAMES;
  const shown = left > 0 ? [...sorted.slice(0, MAX_NODE_NAMES), `<${left} more>`] : sorted;
  const message = `Error updating load balancer with new hosts [${shown.join(" ")}] [node names limited, total number of nodes: ${sorted.length}], error: ${error}`;
  return warning(service, reasons.UPDATE_LOAD_BALANCER_FAILED, message);
}

export function featureIgnored(service: Service, field: string, message: string): EventInput {
  return warning(service, reasons.LOAD_BALANCER_FEATURE_IGNORED, `${field}: ${message}`);
}

/** @param names of the nodes, which `nodes` shows with their reasons */
export function nodesNotRegistered(service: Service, nodes: string, names: readonly string[]): EventInput {
  const message = `Some nodes are no targets of the load balancer: ${nodes} (retrying in 10 seconds to 5 minutes). To fix: ${LOAD_BALANCER_REMEDIES.NodesNotRegistered}`;
  return { ...warning(service, reasons.NODES_NOT_REGISTERED, message), about: names };
}

export function loadBalancerDrifted(service: Service, what: string): EventInput {
  return warning(service, reasons.LOAD_BALANCER_DRIFTED, `Repairing the load balancer: ${what}`);
}

export function driftNotRepaired(service: Service, what: string): EventInput {
  const message = `Not repairing the load balancer for a day because it was changed back after each repair: ${what}. To fix: ${LOAD_BALANCER_REMEDIES.DriftNotRepaired}`;
  return warning(service, reasons.LOAD_BALANCER_DRIFT_NOT_REPAIRED, message);
}

export function loadBalancerDeletionProtected(service: Service): EventInput {
  const message = `Load balancer and Service are protected from deletion; to delete both, set annotation ${DELETION_PROTECTION} to "false"`;
  return warning(service, reasons.LOAD_BALANCER_DELETION_PROTECTED, message);
}

export function loadBalancerRetained(service: Service, loadBalancerId: string | undefined): EventInput {
  const which = loadBalancerId === undefined ? "The load balancer" : `Load balancer ${loadBalancerId}`;
  const message = `${which} of this Service is retained in the cloud because annotation ${DELETION_PROTECTION} was set when the Service was deleted. To fix: delete the load balancer in the cloud when it is no longer needed`;
  return warning(service, reasons.LOAD_BALANCER_RETAINED, message);
}

export function noLoadBalancerProvider(service: Service, why: string): EventInput {
  const message = `The load balancer is left unchanged because no provider serves it: ${why} (retrying when a provider serves it). To fix: ${LOAD_BALANCER_REMEDIES.NoLoadBalancerProvider}`;
  return warning(service, reasons.NO_LOAD_BALANCER_PROVIDER, message);
}

export function diagnosed(service: Service, { severity, reason, summary, detail }: Diagnostic): EventInput {
  const message = detail === "" ? summary : `${summary} ${detail}`;
  return event(service, severity === "info" ? "Normal" : "Warning", reason, message);
}

function normal(reason: string, message: string): (service: Service) => EventInput {
  return (service) => event(service, "Normal", reason, message);
}

function warning(service: Service, reason: string, message: string): EventInput {
  return event(service, "Warning", reason, message);
}

function event(service: Service, type: EventType, reason: string, message: string): EventInput {
  return { regarding: serviceReference(service), type, reason, message };
}
