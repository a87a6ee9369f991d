import { type Cluster, ProviderError, type ServiceRef } from "@cloudwire/provider-sdk";

/** Tags under this prefix are the provider's stamp; users' tags may not begin with it. */
const stampPrefix = "cloudwire.dev/";

export const clusterIdTag = `${stampPrefix}cluster-id`;
export const serviceUidTag = `${stampPrefix}service-uid`;
const clusterNameTag = `${stampPrefix}cluster-name`;

/** As AWS' own controller writes it: `namespace/name`. */
const serviceNameTag = "kubernetes.io/service-name";

export type Tags = Readonly<Record<string, string>>;

/** Whose a cloud object is. */
export function clusterStamp({ id, name }: Cluster): Tags {
  return { [clusterIdTag]: id, ...(name === undefined ? {} : { [clusterNameTag]: name }) };
}

/** Whose a cloud object is, and for which Service. */
export function serviceStamp(cluster: Cluster, { namespace, name, uid }: ServiceRef): Tags {
  return { ...clusterStamp(cluster), [serviceUidTag]: uid, [serviceNameTag]: `${namespace}/${name}` };
}

/** The Service in the stamp. */
export function stampedService(tags: Tags): ServiceRef {
  const [namespace = "", ...name] = (tags[serviceNameTag] ?? "").split("/");
  return { namespace, name: name.join("/"), uid: tags[serviceUidTag] ?? "" };
}

/** The wished tags without any that pretend to be a stamp. */
export function userTags(tags: Tags): Tags {
  return Object.fromEntries(
    Object.entries(tags).filter(([key]) => !key.startsWith(stampPrefix) && key !== serviceNameTag),
  );
}

/** An object as far as its owner is concerned. */
export interface Owned {
  /** For people: `load balancer arn:…`. */
  readonly what: string;
  readonly name: string;
  readonly tags: Tags;
}

/** Tags by which other controllers mark what is theirs, in the order in which they are looked at. */
const foreignOwnerTags = ["elbv2.k8s.aws/cluster", "service.k8s.aws/stack", serviceNameTag] as const;

/** Why an object may not be touched for this Service; undefined: it is this Service's. */
export function ownershipProblem(
  { what, name, tags }: Owned,
  { cluster, service }: { readonly cluster: Cluster; readonly service: Pick<ServiceRef, "uid"> },
): ProviderError | undefined {
  const owner = tags[clusterIdTag];
  if (owner === undefined) {
    const [known] = foreignOwnerTags.flatMap((key) => (tags[key] === undefined ? [] : [`${key}=${tags[key]}`]));
    const whose = known === undefined ? "and no cluster's stamp: somebody made it by hand" : `and belongs to ${known}`;
    const metadata = { name, ...(known === undefined ? {} : { owner: known }) };
    return new ProviderError("NAME_TAKEN", `${what} has the name ${name} ${whose}`, { metadata });
  }
  if (owner !== cluster.id) {
    const ownerName = tags[clusterNameTag] ?? "";
    const metadata = { owner_cluster_id: owner, owner_cluster_name: ownerName, name };
    const message = `${what} belongs to cluster ${ownerName === "" ? owner : `${ownerName} (${owner})`}`;
    return new ProviderError("OWNED_BY_ANOTHER_CLUSTER", message, { metadata });
  }
  if (tags[serviceUidTag] === service.uid) return undefined;
  const other = tags[serviceNameTag] ?? tags[serviceUidTag] ?? "";
  return new ProviderError("NAME_TAKEN", `${what} has the name ${name} and is stamped for Service ${other}`, {
    metadata: { name, owner: other },
  });
}

interface AwsTag {
  readonly Key?: string | undefined;
  readonly Value?: string | undefined;
}

export function fromAwsTags(tags: readonly AwsTag[] | undefined): Tags {
  return Object.fromEntries((tags ?? []).map(({ Key = "", Value = "" }) => [Key, Value]));
}

export function toAwsTags(tags: Tags): { Key: string; Value: string }[] {
  return Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
}
