import type { Cluster } from "../definition/common.ts";
import type { ServiceRef } from "../definition/requests.ts";
import { ProviderError } from "../results/errors.ts";

/** The owner of a cloud object. Store it with the object, as tags or in a description, and check it before every change. */
export interface OwnershipTags {
  /** ID of the cluster that created the object. Undefined: no cluster did. */
  readonly clusterId?: string | undefined;
  /** Human-readable name of that cluster. */
  readonly clusterName?: string | undefined;
  /** UID of the Service that the object was created for. */
  readonly serviceUid?: string | undefined;
  /** `namespace/name` of that Service, human-readable. */
  readonly service?: string | undefined;
}

/** A cloud object and its owner. */
export interface TaggedObject {
  /** Kind of the object, human-readable: `load balancer`. */
  readonly what: string;
  /** The cloud's ID of it. */
  readonly id: string;
  /** The name by which it was found. */
  readonly name: string;
  /** The ownership tags that were read from it. */
  readonly tags: OwnershipTags;
  /** Other evidence that an object without ownership tags has an owner, such as another controller's tag. Default: none. */
  readonly foreignOwner?: string | undefined;
}

/** Returns the ownership tags of an object for a cluster, or for one of its Services. */
export function ownershipTagsOf(cluster: Cluster, service?: ServiceRef): OwnershipTags {
  const tags = { clusterId: cluster.id, clusterName: cluster.name };
  return service ? { ...tags, serviceUid: service.uid, service: `${service.namespace}/${service.name}` } : tags;
}

/** Returns the Service in ownership tags; missing parts are empty. */
export function taggedService({ service = "", serviceUid = "" }: OwnershipTags): ServiceRef {
  const [namespace = "", ...name] = service.split("/");
  return { namespace, name: name.join("/"), uid: serviceUid };
}

/**
 * Returns why a cluster, and this Service of it, must not change an object: `OWNED_BY_ANOTHER_CLUSTER`, or `NAME_TAKEN` if another Service
 * owns it or no cluster created it. Undefined: the change is allowed. Default for `service`: any Service of the cluster.
 */
export function ownershipConflict(
  { what, id, name, tags, foreignOwner }: TaggedObject,
  { cluster, service }: { readonly cluster: Cluster; readonly service?: Pick<ServiceRef, "uid"> | undefined },
): ProviderError | undefined {
  const { clusterId, clusterName = "" } = tags;
  const named = { name, id };
  if (clusterId === undefined) {
    const whose =
      foreignOwner === undefined ? "no ownership tags: it was not created by a cluster" : `belongs to ${foreignOwner}`;
    const metadata = { ...named, ...(foreignOwner === undefined ? {} : { owner: foreignOwner }) };
    return new ProviderError("NAME_TAKEN", `${what} ${id} has the name ${name} and ${whose}`, { metadata });
  }
  if (clusterId !== cluster.id) {
    const metadata = { owner_cluster_id: clusterId, owner_cluster_name: clusterName, ...named };
    const owner = clusterName === "" ? clusterId : `${clusterName} (${clusterId})`;
    return new ProviderError("OWNED_BY_ANOTHER_CLUSTER", `${what} ${id} belongs to cluster ${owner}`, { metadata });
  }
  if (service === undefined || tags.serviceUid === service.uid) return undefined;
  const owner = tags.service ?? tags.serviceUid ?? "";
  const message = `${what} ${id} has the name ${name} and is tagged for Service ${owner}`;
  return new ProviderError("NAME_TAKEN", message, { metadata: { ...named, owner } });
}
