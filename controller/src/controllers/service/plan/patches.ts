import { LOAD_BALANCER_CLEANUP } from "../../../api/finalizers.ts";
import type { LoadBalancerIngress, PortStatus, Service } from "../../../api/service.ts";
import type { JsonObject } from "../../../kube/client.ts";
import { deepEqual } from "../../../util/equal.ts";
import { hasFinalizer } from "../predicates.ts";

/*
 * Strategic merge patches for services/status: the only verb this controller needs on Services. `uid` makes the server refuse a
 * patch that was meant for an earlier Service of the same name.
 */

/** Puts our finalizer behind those of others; undefined: it is there. */
export function addFinalizerPatch(service: Service): JsonObject | undefined {
  if (hasFinalizer(service)) return undefined;
  const { uid, finalizers } = service.metadata;
  // Without an order the server would put ours first.
  const order = { "$setElementOrder/finalizers": [...finalizers, LOAD_BALANCER_CLEANUP] };
  return { metadata: { uid, ...(finalizers.length === 0 ? {} : order), finalizers: [LOAD_BALANCER_CLEANUP] } };
}

/**
 * Takes our finalizer off, and the ingress with it; undefined: neither is there. Names the one item to delete, where upstream sends
 * the list that is left: a finalizer that somebody added meanwhile survives.
 */
export function cleanedUpPatch(service: Service): JsonObject | undefined {
  const { ingress } = service.status.loadBalancer;
  if (!hasFinalizer(service) && ingress.length === 0) return undefined;
  return {
    metadata: {
      uid: service.metadata.uid,
      ...(hasFinalizer(service) ? { "$deleteFromPrimitiveList/finalizers": [LOAD_BALANCER_CLEANUP] } : {}),
    },
    ...(ingress.length === 0 ? {} : { status: { loadBalancer: { ingress: null } } }),
  };
}

/** Publishes where traffic enters; undefined: the Service says so already. */
export function ingressPatch(service: Service, ingress: readonly LoadBalancerIngress[]): JsonObject | undefined {
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
