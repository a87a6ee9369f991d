import { type Cluster, ownershipProblem, type ProviderError } from "@cloudwire/provider-sdk";

/** Tags under this prefix are the provider's stamp; users' tags may not begin with it. */
const stampPrefix = "cloudwire.dev/";

export const clusterIdTag = `${stampPrefix}cluster-id`;
export const serviceUidTag = `${stampPrefix}service-uid`;
export const serviceNamespaceTag = `${stampPrefix}service-namespace`;
export const serviceNameTag = `${stampPrefix}service-name`;
export const nodeNameTag = `${stampPrefix}node-name`;
const clusterNameTag = `${stampPrefix}cluster-name`;

type TagMap = Readonly<Record<string, string>>;

/** Whose a cloud object is. */
export function clusterStamp(cluster: Cluster): TagMap {
  return { [clusterIdTag]: cluster.id, ...(cluster.name === undefined ? {} : { [clusterNameTag]: cluster.name }) };
}

/** The filter that shows a cluster's own objects and no others. */
export function clusterFilter(cluster: Cluster): string {
  return `${clusterIdTag}=${cluster.id}`;
}

/** The wished tags without any that pretend to be a stamp. */
export function userTags(tags: TagMap): TagMap {
  return Object.fromEntries(Object.entries(tags).filter(([key]) => !key.startsWith(stampPrefix)));
}

/** An object as far as its owner is concerned. */
export interface Owned {
  readonly id: string;
  readonly name: string;
  readonly tags: TagMap;
}

/** Why an object may not be touched for this cluster; undefined: it is this cluster's. */
export function problemOfTags(what: string, { id, name, tags }: Owned, cluster: Cluster): ProviderError | undefined {
  const stamp = { clusterId: tags[clusterIdTag], clusterName: tags[clusterNameTag] };
  return ownershipProblem({ what, id, name, stamp }, { cluster });
}
