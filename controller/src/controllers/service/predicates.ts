import {
  type LoadBalancerIngress,
  type Service,
  type ServicePort,
  deletionProtection,
  isClearlyFalse,
} from "../../api/service.ts";
import {
  EXCLUDE_FROM_EXTERNAL_LOAD_BALANCERS,
  LOAD_BALANCER_CLEANUP,
  TO_BE_DELETED_BY_CLUSTER_AUTOSCALER,
} from "../../api/well-known.ts";
import type { Node } from "../../api/node.ts";
import { LOAD_BALANCER_READY } from "../../api/load-balancer-condition.ts";
import { deepEqual } from "../../util/equal.ts";

/** By its type, whatever its class. */
export function wantsLoadBalancer({ spec }: Service): boolean {
  return spec.type === "LoadBalancer";
}

export function hasFinalizer({ metadata }: Service): boolean {
  return metadata.finalizers.includes(LOAD_BALANCER_CLEANUP);
}

export function isDeleting({ metadata }: Service | Node): boolean {
  return metadata.deletionTimestampMs !== undefined;
}

export function isDeletionProtected(service: Service): boolean {
  return deletionProtection(service) === true;
}

/** The Service has, or had, a load balancer that must be deleted. */
export function needsCleanup(service: Service): boolean {
  return hasFinalizer(service) && (isDeleting(service) || !wantsLoadBalancer(service));
}

/** The desired load balancer has changed, by upstream's list, which includes all annotations. cloud-provider/controllers/service/controller.go v0.36.3. */
export function needsUpdate(old: Service, service: Service): boolean {
  if (!wantsLoadBalancer(old) && !wantsLoadBalancer(service)) return false;
  if (wantsLoadBalancer(old) !== wantsLoadBalancer(service)) return true;
  const [before, now] = [old.spec, service.spec];
  return (
    old.metadata.uid !== service.metadata.uid ||
    before.loadBalancerClass !== now.loadBalancerClass ||
    before.loadBalancerIP !== now.loadBalancerIP ||
    before.sessionAffinity !== now.sessionAffinity ||
    before.externalTrafficPolicy !== now.externalTrafficPolicy ||
    before.healthCheckNodePort !== now.healthCheckNodePort ||
    before.ipFamilies.length !== now.ipFamilies.length ||
    !deepEqual(before.ports.map(comparedPort), now.ports.map(comparedPort)) ||
    !deepEqual(before.loadBalancerSourceRanges, now.loadBalancerSourceRanges) ||
    !deepEqual(before.sessionAffinityConfig, now.sessionAffinityConfig) ||
    !deepEqual(before.externalIPs, now.externalIPs) ||
    !deepEqual(old.metadata.annotations, service.metadata.annotations)
  );
}

export function concernsAdded(service: Service): boolean {
  return wantsLoadBalancer(service) || hasFinalizer(service);
}

/** A removed finalizer is added again, or the load balancer would leak. Annotations may unblock a cleanup. */
export function concernsUpdated(old: Service, service: Service): boolean {
  return (
    needsUpdate(old, service) ||
    (needsCleanup(service) &&
      (!needsCleanup(old) || !deepEqual(old.metadata.annotations, service.metadata.annotations))) ||
    (wantsLoadBalancer(service) &&
      (isDeleting(old) !== isDeleting(service) || (hasFinalizer(old) && !hasFinalizer(service))))
  );
}

/**
 * Another client has changed the addresses in the status, or removed the condition. Own writes agree with `published`, and remove the
 * condition only of Services without a load balancer.
 */
export function losesStatus(
  old: Service,
  service: Service,
  published: readonly LoadBalancerIngress[] | undefined,
): boolean {
  if (published === undefined || !wantsLoadBalancer(service) || isDeleting(service)) return false;
  const [before, now] = [old.status.loadBalancer.ingress, service.status.loadBalancer.ingress];
  const isOverwritten = !deepEqual(before, now) && !deepEqual(now, published);
  return isOverwritten || (hasReadiness(old) && !hasReadiness(service));
}

/** The Node gets traffic of load balancers. As upstream, readiness does not count: the load balancer has health checks. */
export function isTarget(node: Node): boolean {
  return (
    !isDeleting(node) &&
    !isExcluded(node.metadata.labels[EXCLUDE_FROM_EXTERNAL_LOAD_BALANCERS]) &&
    !node.spec.taints.some(({ key }) => key === TO_BE_DELETED_BY_CLUSTER_AUTOSCALER) &&
    node.spec.providerID !== ""
  );
}

export function changesTargets(old: Node, node: Node): boolean {
  if (!isTarget(old) && !isTarget(node)) return false;
  return (
    isTarget(old) !== isTarget(node) ||
    old.spec.providerID !== node.spec.providerID ||
    !deepEqual(old.status.addresses, node.status.addresses) ||
    !deepEqual(old.metadata.labels, node.metadata.labels)
  );
}

/** As upstream, the empty value excludes the Node, too. */
function isExcluded(value: string | undefined): boolean {
  return value !== undefined && !isClearlyFalse(value);
}

function hasReadiness({ status }: Service): boolean {
  return status.conditions.some(({ type }) => type === LOAD_BALANCER_READY);
}

function comparedPort({ name, protocol, appProtocol, port, targetPort, nodePort }: ServicePort): object {
  return { name, protocol, appProtocol, port, targetPort, nodePort };
}

/** Prefix of the keys of drift-sweep.ts; keys of Services have a slash. */
const SWEEP = "drift-sweep:";

export function sweepKey(provider: string): string {
  return SWEEP + provider;
}

export function isSweepKey(key: string): boolean {
  return key.startsWith(SWEEP);
}

export function sweptProvider(key: string): string {
  return key.slice(SWEEP.length);
}
