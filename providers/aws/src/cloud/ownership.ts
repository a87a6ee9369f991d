import {
  type Cluster,
  ownershipConflict,
  type ProviderError,
  type ServiceRef,
  type OwnershipTags,
  taggedService,
  type TaggedObject,
  ownershipTagsOf,
} from "@cloudwire/provider-sdk";

/** Prefix of the provider's ownership tags, which tags of users must not have. */
const ownershipPrefix = "cloudwire.dev/";

export const clusterIdTag = `${ownershipPrefix}cluster-id`;
export const serviceUidTag = `${ownershipPrefix}service-uid`;
const clusterNameTag = `${ownershipPrefix}cluster-name`;
/** As AWS' own controller writes it: `namespace/name`. */
const serviceNameTag = "kubernetes.io/service-name";

export type Tags = Readonly<Record<string, string>>;

/** The ownership tags of a cluster, and of a Service if given. */
export function ownershipTags(cluster: Cluster, service?: ServiceRef): Tags {
  const owner = ownershipTagsOf(cluster, service);
  const tags = {
    [clusterIdTag]: owner.clusterId,
    [clusterNameTag]: owner.clusterName,
    [serviceUidTag]: owner.serviceUid,
    [serviceNameTag]: owner.service,
  };
  return Object.fromEntries(
    Object.entries(tags).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

function ownershipTagsIn(tags: Tags): OwnershipTags {
  return {
    clusterId: tags[clusterIdTag],
    clusterName: tags[clusterNameTag],
    serviceUid: tags[serviceUidTag],
    service: tags[serviceNameTag],
  };
}

/** The Service in the ownership tags. */
export function serviceIn(tags: Tags): ServiceRef {
  return taggedService(ownershipTagsIn(tags));
}

/** True: the provider sets it on its own account. */
export function isOwnershipTag(key: string): boolean {
  return key.startsWith(ownershipPrefix) || key === serviceNameTag;
}

/** The desired tags without the provider's ownership tags. */
export function userTags(tags: Tags): Tags {
  return Object.fromEntries(Object.entries(tags).filter(([key]) => !isOwnershipTag(key)));
}

/** Ownership tags of other controllers, in order of precedence. */
const foreignOwnerTags = ["elbv2.k8s.aws/cluster", "service.k8s.aws/stack", serviceNameTag] as const;

/** Why an object may not be touched for this Service; undefined: it is this Service's. */
export function problemOfTags(
  { tags, ...object }: Pick<TaggedObject, "what" | "id" | "name"> & { readonly tags: Tags },
  asking: { readonly cluster: Cluster; readonly service: Pick<ServiceRef, "uid"> },
): ProviderError | undefined {
  const [foreignOwner] = foreignOwnerTags.flatMap((key) => (tags[key] === undefined ? [] : [`${key}=${tags[key]}`]));
  return ownershipConflict({ ...object, tags: ownershipTagsIn(tags), foreignOwner }, asking);
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
