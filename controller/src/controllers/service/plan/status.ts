import { DELETION_PROTECTION } from "../../../api/annotations.ts";
import {
  LOAD_BALANCER_READY,
  LOAD_BALANCER_REMEDIES,
  type LoadBalancerReadyReason,
} from "../../../api/load-balancer-condition.ts";
import type { Condition } from "../../../api/meta.ts";
import type { LoadBalancerIngress, PortStatus, Service } from "../../../api/service.ts";
import { LOAD_BALANCER_CLEANUP } from "../../../api/well-known.ts";
import type { JsonObject } from "../../../kube/client.ts";
import { deepEqual } from "../../../util/equal.ts";
import { withoutIDs, withoutRequestIDs } from "../../../util/text.ts";
import { hasFinalizer } from "../predicates.ts";
import type { Drift, Present, Unregistered } from "../record/record.ts";
import { namesOf, unregisteredText } from "./unregistered.ts";

export interface Readiness {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: LoadBalancerReadyReason;
  /** Without counts and times: each change is a write. */
  readonly message: string;
  /** What the message is about, such as the names of nodes: always shown. @default nothing */
  readonly about?: readonly string[];
}

const READY: Readiness = {
  status: "True",
  reason: "Ready",
  message: "The load balancer matches the spec of the Service.",
};

const NO_NODES = notReady(
  "NoAvailableNodes",
  `The load balancer has no available nodes to forward traffic to. To fix: ${LOAD_BALANCER_REMEDIES.NoAvailableNodes}.`,
);

/** Written with the finalizer, before any call. */
export const PROVISIONING = notReady("Provisioning", "The load balancer is being created.");

const UPDATING = notReady(
  "Updating",
  "The load balancer is being updated; until then it serves the previous configuration.",
);

/**
 * Only for deletions that are not completed immediately.
 * @param detail "": not reported
 * @param remaining what is left, which `detail` names
 */
export function deleting(detail: string, remaining: readonly string[] = []): Readiness {
  const message = "The load balancer is being deleted; the Service is deleted afterwards.";
  const text = detail === "" ? message : `${message} ${capital(detail)}.`;
  return { ...notReady("Deleting", text), about: remaining };
}

export const PROTECTED = notReady(
  "DeletionProtected",
  `Annotation ${DELETION_PROTECTION} protects the load balancer and the Service from deletion. To delete both, set it to "false".`,
);

export function notServed(why: string): Readiness {
  const message = `No provider serves this load balancer: ${why}. It is not changed or deleted until a provider serves it. To fix: ${LOAD_BALANCER_REMEDIES.NoLoadBalancerProvider}.`;
  return { status: "Unknown", reason: "NoLoadBalancerProvider", message };
}

export function driftNotRepaired({ what }: Drift): Readiness {
  const message = `${capital(what)}. The controller repaired the load balancer several times, and it was changed back each time. The next repair is in a day, or when the Service changes. To fix: ${LOAD_BALANCER_REMEDIES.DriftNotRepaired}.`;
  return notReady("DriftNotRepaired", message);
}

/** It serves, but not with all nodes. */
function notRegistered(unregistered: Unregistered): Readiness {
  const message = `Some nodes are no targets of the load balancer: ${unregisteredText(unregistered)}. The controller retries every 10 seconds to 5 minutes. To fix: ${LOAD_BALANCER_REMEDIES.NodesNotRegistered}.`;
  return { ...notReady("NodesNotRegistered", message), about: namesOf(unregistered) };
}

function notReady(reason: LoadBalancerReadyReason, message: string): Readiness {
  return { status: "False", reason, message };
}

function capital(clause: string): string {
  return clause.charAt(0).toUpperCase() + clause.slice(1);
}

/** undefined: unchanged. */
export function readinessOf(service: Service, present: Present, nodeCount: number): Readiness | undefined {
  const { operation, ingress } = present;
  if (operation === undefined) {
    if (present.unregistered !== undefined) return notRegistered(present.unregistered);
    return nodeCount === 0 ? NO_NODES : READY;
  }
  if (operation.purpose === "update") return undefined;
  const isServing = ingress !== undefined || service.status.loadBalancer.ingress.length > 0;
  return isServing ? UPDATING : PROVISIONING;
}

export function reportedReadiness({ status }: Service): Condition | undefined {
  return status.conditions.find(({ type }) => type === LOAD_BALANCER_READY);
}

/** For `status.conditions`, which the server merges by type. undefined: up to date. */
export function readinessItems(service: Service, wanted: Readiness, nowMs: number): readonly JsonObject[] | undefined {
  const { generation, annotations } = service.metadata;
  const reported = reportedReadiness(service);
  const { status, reason } = wanted;
  // IDs that the Service requests are those of the problem, and not of an attempt.
  const about = [...(wanted.about ?? []), ...Object.values(annotations)];
  const isSameState =
    reported?.status === status && reported.reason === reason && reported.observedGeneration === generation;
  const message = stableMessage(wanted.message, isSameState ? reported.message : undefined, about);
  if (isSameState && reported.message === message) return undefined;
  const sinceMs = reported?.status === status ? reported.lastTransitionTimeMs : nowMs;
  return [
    {
      type: LOAD_BALANCER_READY,
      status,
      reason,
      message,
      // Services have no generation in Kubernetes 1.36.
      ...(generation === 0 ? {} : { observedGeneration: generation }),
      lastTransitionTime: new Date(sinceMs).toISOString().replace(/\.\d{3}/, ""),
    },
  ];
}

/** An error text with another ID in each attempt would be a write in each attempt. */
function stableMessage(message: string, reported: string | undefined, about: readonly string[]): string {
  const text = withoutRequestIDs(message);
  const stable = withoutIDs(text, about);
  return reported !== undefined && reported !== text && withoutIDs(reported, about) === stable ? stable : text;
}

/** undefined: there is no condition. */
export function withoutReadiness(service: Service): readonly JsonObject[] | undefined {
  return reportedReadiness(service) === undefined ? undefined : [{ $patch: "delete", type: LOAD_BALANCER_READY }];
}

/** One body for services/status. */
export interface StatusPatch extends JsonObject {
  readonly metadata: JsonObject;
  readonly status?: JsonObject;
}

/*
 * Strategic merge patches for services/status, the only verb that this controller needs on Services. With `uid`, the server rejects a
 * patch that was meant for an earlier Service of the same name.
 */

/** Appends our finalizer; undefined: it exists. */
export function addFinalizerPatch(service: Service): StatusPatch | undefined {
  if (hasFinalizer(service)) return undefined;
  const { uid, finalizers } = service.metadata;
  // Without an order the server would put ours first.
  const order = { "$setElementOrder/finalizers": [...finalizers, LOAD_BALANCER_CLEANUP] };
  return { metadata: { uid, ...(finalizers.length === 0 ? {} : order), finalizers: [LOAD_BALANCER_CLEANUP] } };
}

/**
 * Removes our finalizer, ingress and condition; undefined: none exists. It names the finalizer to delete, where upstream sends the remaining
 * list: a finalizer that another client has just added is kept.
 */
export function cleanedUpPatch(service: Service): StatusPatch | undefined {
  const { ingress } = service.status.loadBalancer;
  const conditions = withoutReadiness(service);
  if (!hasFinalizer(service) && ingress.length === 0 && conditions === undefined) return undefined;
  const patch: StatusPatch = {
    metadata: {
      uid: service.metadata.uid,
      ...(hasFinalizer(service) ? { "$deleteFromPrimitiveList/finalizers": [LOAD_BALANCER_CLEANUP] } : {}),
    },
    ...(ingress.length === 0 ? {} : { status: { loadBalancer: { ingress: null } } }),
  };
  return withConditions(service, patch, conditions);
}

/** Patch and conditions in one write; undefined: neither is needed. */
export function withConditions(
  { metadata: { uid } }: Service,
  patch: StatusPatch | undefined,
  conditions: readonly JsonObject[] | undefined,
): StatusPatch | undefined {
  if (conditions === undefined) return patch;
  return { ...patch, metadata: patch?.metadata ?? { uid }, status: { ...patch?.status, conditions } };
}

/** undefined: up to date. */
export function ingressPatch(service: Service, ingress: readonly LoadBalancerIngress[]): StatusPatch | undefined {
  if (deepEqual(service.status.loadBalancer.ingress, ingress)) return undefined;
  return {
    metadata: { uid: service.metadata.uid },
    status: { loadBalancer: { ingress: ingress.length === 0 ? null : ingress.map(ingressJson) } },
  };
}

function ingressJson({ ip, hostname, ipMode, ports }: LoadBalancerIngress): JsonObject {
  return {
    ...(ip === "" ? {} : { ip }),
    ...(hostname === "" ? {} : { hostname }),
    ...(ipMode === undefined ? {} : { ipMode }),
    ...(ports.length === 0 ? {} : { ports: ports.map(portJson) }),
  };
}

function portJson({ port, protocol, error }: PortStatus): JsonObject {
  return { port, protocol, ...(error === undefined ? {} : { error }) };
}
