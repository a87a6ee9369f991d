import { LOAD_BALANCER_CLEANUP } from "../../../api/well-known.ts";
import type { LoadBalancerIngress, PortStatus, Service } from "../../../api/service.ts";
import type { JsonObject } from "../../../kube/client.ts";
import { deepEqual } from "../../../util/equal.ts";
import { hasFinalizer } from "../predicates.ts";
import { withoutReadiness } from "./status.ts";

/** One body for services/status. */
export interface StatusPatch extends JsonObject {
  readonly metadata: JsonObject;
  readonly status?: JsonObject;
}

/*
 * Strategic merge patches for services/status: the only verb this controller needs on Services. `uid` makes the server refuse a
 * patch that was meant for an earlier Service of the same name.
 */

/** Puts our finalizer behind those of others; undefined: it is there. */
export function addFinalizerPatch(service: Service): StatusPatch | undefined {
  if (hasFinalizer(service)) return undefined;
  const { uid, finalizers } = service.metadata;
  // Without an order the server would put ours first.
  const order = { "$setElementOrder/finalizers": [...finalizers, LOAD_BALANCER_CLEANUP] };
  return { metadata: { uid, ...(finalizers.length === 0 ? {} : order), finalizers: [LOAD_BALANCER_CLEANUP] } };
}

/**
 * Takes our finalizer off, and ingress and condition with it; undefined: none of them is there. Names the one item to delete, where upstream sends
 * the list that is left: a finalizer that somebody added meanwhile survives.
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

/** The patch and these items of `status.conditions` in one write; undefined: neither is needed. */
export function withConditions(
  { metadata: { uid } }: Service,
  patch: StatusPatch | undefined,
  conditions: readonly JsonObject[] | undefined,
): StatusPatch | undefined {
  if (conditions === undefined) return patch;
  return { ...patch, metadata: patch?.metadata ?? { uid }, status: { ...patch?.status, conditions } };
}

/** Publishes where traffic enters; undefined: the Service says so already. */
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
