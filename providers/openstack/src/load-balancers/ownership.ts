import {
  type Cluster,
  ownershipConflict,
  type ProviderError,
  type ServiceRef,
  type OwnershipTags,
} from "@cloudwire/provider-sdk";

/** Prefix of the provider's ownership tags. Octavia's tags are single strings, so the value follows `=`. */
const ownershipPrefix = "cloudwire.dev/";

const keys = {
  clusterId: `${ownershipPrefix}cluster-id`,
  clusterName: `${ownershipPrefix}cluster-name`,
  serviceUid: `${ownershipPrefix}service-uid`,
  service: `${ownershipPrefix}service`,
  spec: `${ownershipPrefix}spec-fingerprint`,
  nodes: `${ownershipPrefix}nodes-fingerprint`,
} as const;

/** Longest tag that Octavia takes. */
const maxTagLength = 255;

/** The values in the tags of a load balancer. */
export type LoadBalancerTags = OwnershipTags & { readonly [key in keyof typeof keys]?: string | undefined };

/** The tag for listing all objects of a cluster. */
export function clusterTag({ id }: Pick<Cluster, "id">): string {
  return `${keys.clusterId}=${id}`;
}

export function toTags(ownership: LoadBalancerTags): readonly string[] {
  return (["clusterId", "clusterName", "serviceUid", "service", "spec", "nodes"] as const)
    .flatMap((key) => (ownership[key] === undefined ? [] : [`${keys[key]}=${ownership[key]}`.slice(0, maxTagLength)]))
    .toSorted();
}

/** The tag with the fingerprint of the nodes in force. */
export function isNodesTag(tag: string): boolean {
  return tag.startsWith(`${keys.nodes}=`);
}

export function fromTags(tags: readonly string[]): LoadBalancerTags {
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

/** The desired tags, as `key=value`, without the provider's ownership tags. */
export function userTags(tags: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(tags)
    .filter(([key]) => !key.startsWith(ownershipPrefix))
    .map(([key, value]) => `${key}=${value}`.slice(0, maxTagLength))
    .toSorted();
}

interface Asking {
  readonly cluster: Cluster;
  readonly service: Pick<ServiceRef, "uid">;
}

/** Why a load balancer may not be touched for this Service; undefined: it is this Service's. */
export function problemOfTags(
  { id, name, tags }: { readonly id: string; readonly name: string; readonly tags: readonly string[] },
  asking: Asking,
): ProviderError | undefined {
  return ownershipConflict({ what: "load balancer", id, name, tags: fromTags(tags) }, asking);
}
