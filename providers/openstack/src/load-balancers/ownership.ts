import { type Cluster, ProviderError, type ServiceRef } from "@cloudwire/provider-sdk";

/** Tags of Octavia are single words, so that what they say stands behind `=`. Under this prefix they are the provider's stamp. */
const stampPrefix = "cloudwire.dev/";

const keys = {
  clusterId: `${stampPrefix}cluster-id`,
  clusterName: `${stampPrefix}cluster-name`,
  serviceUid: `${stampPrefix}service-uid`,
  service: `${stampPrefix}service`,
  spec: `${stampPrefix}spec-fingerprint`,
  nodes: `${stampPrefix}nodes-fingerprint`,
} as const;

/** Longest tag that Octavia takes. */
const maxTagLength = 255;

export type Stamp = { readonly [key in keyof typeof keys]?: string | undefined };

/** The tag by which everything of a cluster is listed. */
export function clusterTag({ id }: Pick<Cluster, "id">): string {
  return `${keys.clusterId}=${id}`;
}

export function stampOf(cluster: Cluster, { namespace, name, uid }: ServiceRef): Stamp {
  return { clusterId: cluster.id, clusterName: cluster.name, serviceUid: uid, service: `${namespace}/${name}` };
}

export function toTags(stamp: Stamp): readonly string[] {
  return (["clusterId", "clusterName", "serviceUid", "service", "spec", "nodes"] as const)
    .flatMap((key) => (stamp[key] === undefined ? [] : [`${keys[key]}=${stamp[key]}`.slice(0, maxTagLength)]))
    .toSorted();
}

export function fromTags(tags: readonly string[]): Stamp {
  const values = new Map(tags.map((tag) => [tag.split("=", 1)[0], tag.slice(tag.indexOf("=") + 1)]));
  return {
    clusterId: values.get(keys.clusterId),
    clusterName: values.get(keys.clusterName),
    serviceUid: values.get(keys.serviceUid),
    service: values.get(keys.service),
    spec: values.get(keys.spec),
    nodes: values.get(keys.nodes),
  };
}

/** The wished tags, as `key=value`, without any that pretend to be a stamp. */
export function userTags(tags: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(tags)
    .filter(([key]) => !key.startsWith(stampPrefix))
    .map(([key, value]) => `${key}=${value}`.slice(0, maxTagLength))
    .toSorted();
}

export function stampedService({ service = "", serviceUid = "" }: Stamp): ServiceRef {
  const [namespace = "", ...name] = service.split("/");
  return { namespace, name: name.join("/"), uid: serviceUid };
}

/** An object as far as its owner is concerned. */
export interface Owned {
  /** For people: `load balancer 1234`. */
  readonly what: string;
  readonly name: string;
  readonly tags: readonly string[];
}

interface Asking {
  readonly cluster: Cluster;
  readonly service: Pick<ServiceRef, "uid">;
}

/** Why an object may not be touched for this Service; undefined: it is this Service's. */
export function ownershipProblem({ what, name, tags }: Owned, { cluster, service }: Asking): ProviderError | undefined {
  const stamp = fromTags(tags);
  if (stamp.clusterId === undefined) {
    const message = `${what} has the name ${name} and no cluster's stamp: somebody made it by hand`;
    return new ProviderError("NAME_TAKEN", message, { metadata: { name } });
  }
  if (stamp.clusterId !== cluster.id) {
    const owner = stamp.clusterName === undefined ? stamp.clusterId : `${stamp.clusterName} (${stamp.clusterId})`;
    const metadata = { owner_cluster_id: stamp.clusterId, owner_cluster_name: stamp.clusterName ?? "", name };
    return new ProviderError("OWNED_BY_ANOTHER_CLUSTER", `${what} belongs to cluster ${owner}`, { metadata });
  }
  if (stamp.serviceUid === service.uid) return undefined;
  const owner = stamp.service ?? stamp.serviceUid ?? "";
  const message = `${what} has the name ${name} and is stamped for Service ${owner}`;
  return new ProviderError("NAME_TAKEN", message, { metadata: { name, owner } });
}
