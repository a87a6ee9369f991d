import { isDeepStrictEqual } from "node:util";
import { type DesiredLoadBalancer, type LoadBalancerRef, ProviderError } from "@cloudwire/provider-sdk";
import type { LoadBalancer, LoadBalancerPatch, LoadBalancerSpec } from "../../api/load-balancers.ts";
import { clusterTags, serviceNamespaceTag, serviceNameTag, serviceUidTag, userTags } from "../ownership.ts";
import { readAnnotations } from "./annotations.ts";

/** Names of what the provider keeps in a load balancer's metadata. */
export const metadataKeys = {
  specFingerprint: "cloudwire.dev/spec-fingerprint",
  nodesFingerprint: "cloudwire.dev/nodes-fingerprint",
  /** Of the targets that these nodes are, as the cloud computes it. */
  targetsDigest: "cloudwire.dev/targets-digest",
  ipMode: "cloudwire.dev/ip-mode",
} as const;

/** The desired load balancer, in the cloud's terms. */
export type DesiredSpec = Required<Omit<LoadBalancerSpec, OptionalParts | "region" | "targets">> &
  Pick<LoadBalancerSpec, OptionalParts>;

type OptionalParts = "requestedAddress" | "protected" | "healthCheck";

export function toDesiredSpec(wanted: DesiredLoadBalancer): DesiredSpec {
  const { flavor, idleTimeoutMs, ipMode, isServed } = readAnnotations(wanted.class, wanted.annotations);
  if (!isServed) throw new ProviderError("NOT_RESPONSIBLE", "another controller serves the Service");
  const [requestedAddress] = wanted.requestedIps;
  return {
    name: wanted.key,
    class: flavor,
    listeners: wanted.ports
      .map(({ port, nodePort }) => ({ port, protocol: "tcp" as const, targetPort: nodePort ?? port }))
      .toSorted((left, right) => left.port - right.port),
    sourceRanges: [...wanted.sourceRanges].toSorted((left, right) => left.localeCompare(right)),
    sessionAffinity: wanted.sessionAffinity ? "clientIp" : "none",
    idleTimeoutMs,
    tags: { ...userTags(wanted.tags), ...serviceTags(wanted) },
    metadata: { [metadataKeys.specFingerprint]: wanted.specFingerprint, [metadataKeys.ipMode]: ipMode },
    ...healthCheckOf(wanted),
    ...(requestedAddress === undefined ? {} : { requestedAddress }),
    ...(wanted.deletionProtection === undefined ? {} : { protected: wanted.deletionProtection }),
  };
}

/** What has to be changed on an existing load balancer; undefined: nothing. */
export function patchFor(existing: LoadBalancer, desired: DesiredSpec): LoadBalancerPatch | undefined {
  const { name: _, class: __, requestedAddress: ___, metadata, ...wanted } = desired;
  const have = {
    ...existing,
    listeners: existing.listeners.map(({ port, protocol, targetPort }) => ({ port, protocol, targetPort })),
  };
  const patch: LoadBalancerPatch = {
    ...(isDeepStrictEqual(have.listeners, wanted.listeners) ? {} : { listeners: wanted.listeners }),
    ...(isDeepStrictEqual(have.sourceRanges, wanted.sourceRanges) ? {} : { sourceRanges: wanted.sourceRanges }),
    ...(have.sessionAffinity === wanted.sessionAffinity ? {} : { sessionAffinity: wanted.sessionAffinity }),
    ...(have.idleTimeoutMs === wanted.idleTimeoutMs ? {} : { idleTimeoutMs: wanted.idleTimeoutMs }),
    ...(isDeepStrictEqual(have.healthCheck, wanted.healthCheck) ? {} : { healthCheck: wanted.healthCheck ?? null }),
    ...(wanted.protected === undefined || have.protected === wanted.protected ? {} : { protected: wanted.protected }),
    ...(isDeepStrictEqual(have.tags, wanted.tags) ? {} : { tags: wanted.tags }),
  };
  const allMetadata = { ...have.metadata, ...metadata };
  const isSame =
    Object.keys(patch).length === 0 && isFingerprintCurrent(have.metadata, metadataKeys.specFingerprint, metadata);
  return isSame ? undefined : { ...patch, metadata: allMetadata };
}

/** A matching load balancer of another program gets no fingerprint: adopting it makes no change in the cloud. */
export function isFingerprintCurrent(
  have: Readonly<Record<string, string>>,
  key: string,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return have[key] === undefined || have[key] === wanted[key];
}

function serviceTags({ cluster, service }: LoadBalancerRef): Record<string, string> {
  return {
    ...clusterTags(cluster),
    [serviceUidTag]: service.uid,
    [serviceNamespaceTag]: service.namespace,
    [serviceNameTag]: service.name,
  };
}

/** Nodes say themselves whether they want traffic; with the policy Cluster every node does, and none is asked. */
function healthCheckOf({
  healthCheck,
  externalTrafficPolicy,
}: DesiredLoadBalancer): Pick<LoadBalancerSpec, "healthCheck"> {
  if (!healthCheck || externalTrafficPolicy === "Cluster") return {};
  const { port, path } = healthCheck;
  return { healthCheck: path === undefined ? { protocol: "tcp", port } : { protocol: "http", port, path } };
}
