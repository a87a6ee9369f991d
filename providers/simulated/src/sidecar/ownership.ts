import { type Cluster, ownershipConflict, type ProviderError } from "@cloudwire/provider-sdk";

/** Prefix of the provider's ownership tags, which tags of users must not have. */
const ownershipPrefix = "cloudwire.dev/";

export const clusterIdTag = `${ownershipPrefix}cluster-id`;
export const serviceUidTag = `${ownershipPrefix}service-uid`;
export const serviceNamespaceTag = `${ownershipPrefix}service-namespace`;
export const serviceNameTag = `${ownershipPrefix}service-name`;
export const nodeNameTag = `${ownershipPrefix}node-name`;
const clusterNameTag = `${ownershipPrefix}cluster-name`;

type TagMap = Readonly<Record<string, string>>;

/** Whose a cloud object is. */
export function clusterTags(cluster: Cluster): TagMap {
  return { [clusterIdTag]: cluster.id, ...(cluster.name === undefined ? {} : { [clusterNameTag]: cluster.name }) };
}

/** The filter that shows a cluster's own objects and no others. */
export function clusterFilter(cluster: Cluster): string {
  return `${clusterIdTag}=${cluster.id}`;
}

/** The desired tags without the provider's ownership tags. */
export function userTags(tags: TagMap): TagMap {
  return Object.fromEntries(Object.entries(tags).filter(([key]) => !key.startsWith(ownershipPrefix)));
}

/** An object as far as its owner is concerned. */
export interface Owned {
  readonly id: string;
  readonly name: string;
  readonly tags: TagMap;
}

/** Why an object may not be touched for this cluster; undefined: it is this cluster's. */
export function problemOfTags(what: string, { id, name, tags }: Owned, cluster: Cluster): ProviderError | undefined {
  const owner = { clusterId: tags[clusterIdTag], clusterName: tags[clusterNameTag] };
  return ownershipConflict({ what, id, name, tags: owner }, { cluster });
}
