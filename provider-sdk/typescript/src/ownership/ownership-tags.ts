import type { Cluster } from "../definition/common.ts";
import type { ServiceRef } from "../definition/requests.ts";
import { ProviderError } from "../results/errors.ts";

/** Whose an object at the cloud is: written on it when it is made, in tags or whatever the cloud has, and read before it is touched. */
export interface Stamp {
  /** Id of the cluster that made it. Undefined: no cluster did. */
  readonly clusterId?: string | undefined;
  /** Name of that cluster, for people. */
  readonly clusterName?: string | undefined;
  /** UID of the Service that it was made for. */
  readonly serviceUid?: string | undefined;
  /** `namespace/name` of that Service, for people. */
  readonly service?: string | undefined;
}

/** An object as far as its owner is concerned. */
export interface StampedObject {
  /** What it is, for people: `load balancer`. */
  readonly what: string;
  /** The cloud's id of it. */
  readonly id: string;
  /** The name by which it was found. */
  readonly name: string;
  /** As it was read. */
  readonly stamp: Stamp;
  /** What says that it is somebody else's although no cluster has stamped it, such as another controller's tag. Default: nothing. */
  readonly otherOwner?: string | undefined;
}

/** The stamp of what is made for a cluster, or for one of its Services. */
export function stampOf(cluster: Cluster, service?: ServiceRef): Stamp {
  const stamp = { clusterId: cluster.id, clusterName: cluster.name };
  return service ? { ...stamp, serviceUid: service.uid, service: `${service.namespace}/${service.name}` } : stamp;
}

/** The Service in a stamp; its parts are empty where the stamp has none. */
export function stampedService({ service = "", serviceUid = "" }: Stamp): ServiceRef {
  const [namespace = "", ...name] = service.split("/");
  return { namespace, name: name.join("/"), uid: serviceUid };
}

/**
 * Why an object may not be touched for this cluster, and this Service of it: `OWNED_BY_ANOTHER_CLUSTER`, or `NAME_TAKEN` by another Service or
 * by something that no cluster has made. Undefined: it may. Default: of any Service of the cluster.
 */
export function ownershipProblem(
  { what, id, name, stamp, otherOwner }: StampedObject,
  { cluster, service }: { readonly cluster: Cluster; readonly service?: Pick<ServiceRef, "uid"> | undefined },
): ProviderError | undefined {
  const { clusterId, clusterName = "" } = stamp;
  const named = { name, id };
  if (clusterId === undefined) {
    const whose =
      otherOwner === undefined ? "no cluster's stamp: somebody made it by hand" : `belongs to ${otherOwner}`;
    const metadata = { ...named, ...(otherOwner === undefined ? {} : { owner: otherOwner }) };
    return new ProviderError("NAME_TAKEN", `${what} ${id} has the name ${name} and ${whose}`, { metadata });
  }
  if (clusterId !== cluster.id) {
    const metadata = { owner_cluster_id: clusterId, owner_cluster_name: clusterName, ...named };
    const owner = clusterName === "" ? clusterId : `${clusterName} (${clusterId})`;
    return new ProviderError("OWNED_BY_ANOTHER_CLUSTER", `${what} ${id} belongs to cluster ${owner}`, { metadata });
  }
  if (service === undefined || stamp.serviceUid === service.uid) return undefined;
  const owner = stamp.service ?? stamp.serviceUid ?? "";
  const message = `${what} ${id} has the name ${name} and is stamped for Service ${owner}`;
  return new ProviderError("NAME_TAKEN", message, { metadata: { ...named, owner } });
}
