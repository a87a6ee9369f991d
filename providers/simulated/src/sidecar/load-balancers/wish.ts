import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  type ChangeContext,
  type LoadBalancerRef,
  type TargetNode,
  type WantedLoadBalancer,
  type WantedNodes,
} from "@cloudwire/provider-sdk";
import type { LoadBalancer, LoadBalancerPatch, LoadBalancerSpec } from "../../api/load-balancers.ts";
import { clusterStamp, serviceNamespaceTag, serviceNameTag, serviceUidTag, userTags } from "../ownership.ts";
import { parseId } from "../provider-id.ts";
import { readAnnotations } from "./annotations.ts";

/** Names of what the provider keeps in a load balancer's metadata. */
export const metadataKeys = {
  specFingerprint: "cloudwire.dev/spec-fingerprint",
  nodesFingerprint: "cloudwire.dev/nodes-fingerprint",
} as const;

/** The wish for a load balancer, in the cloud's terms. */
export type Wish = Required<Omit<LoadBalancerSpec, OptionalParts | "region" | "targets">> &
  Pick<LoadBalancerSpec, OptionalParts>;

type OptionalParts = "requestedAddress" | "protected" | "healthCheck";

export function toWish(wanted: WantedLoadBalancer): Wish {
  const { flavour, idleTimeoutMs } = readAnnotations(wanted.class, wanted.annotations);
  const [requestedAddress] = wanted.requestedIps;
  return {
    name: wanted.key,
    class: flavour,
    listeners: wanted.ports
      .map(({ port, nodePort }) => ({ port, protocol: "tcp" as const, targetPort: nodePort ?? port }))
      .toSorted((left, right) => left.port - right.port),
    sourceRanges: [...wanted.sourceRanges].toSorted((left, right) => left.localeCompare(right)),
    sessionAffinity: wanted.sessionAffinity ? "clientIp" : "none",
    idleTimeoutMs,
    tags: { ...userTags(wanted.tags), ...stampOf(wanted) },
    metadata: { [metadataKeys.specFingerprint]: wanted.specFingerprint },
    ...healthCheckOf(wanted),
    ...(requestedAddress === undefined ? {} : { requestedAddress }),
    ...(wanted.deletionProtection === undefined ? {} : { protected: wanted.deletionProtection }),
  };
}

/** What has to be changed on an existing load balancer; undefined: nothing. */
export function patchFor(existing: LoadBalancer, wish: Wish): LoadBalancerPatch | undefined {
  const { name: _, class: __, requestedAddress: ___, metadata, ...wanted } = wish;
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
  const isSame = Object.keys(patch).length === 0 && isDeepStrictEqual(have.metadata, allMetadata);
  return isSame ? undefined : { ...patch, metadata: allMetadata };
}

/** The nodes wanted, in the cloud's terms. */
export interface WantedTargets {
  readonly ids: readonly string[];
  /** As the cloud computes it. */
  readonly digest: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Nodes whose machines are not in this cloud are told of and left out. */
export function toTargets({ nodes, nodesFingerprint }: WantedNodes, context: ChangeContext): WantedTargets {
  const places = nodes.map((node) => ({ node, place: node.id === undefined ? undefined : parseId(node.id) }));
  const foreign = places.filter(({ place }) => place === undefined || place instanceof Error);
  warnAbout(
    context,
    "NodesOfOtherProviders",
    foreign.map(({ node }) => node),
  );
  const found = places.flatMap(({ place }) => (place && !(place instanceof Error) ? [place.instanceId] : []));
  // In the order of code points, as the cloud's digest demands.
  const ids = [...new Set(found)].toSorted((left, right) => (left < right ? -1 : 1));
  const digest = createHash("sha256");
  for (const id of ids) digest.update(`${id}\n`);
  return { ids, digest: digest.digest("hex"), metadata: { [metadataKeys.nodesFingerprint]: nodesFingerprint } };
}

/** True: the targets and their fingerprint are as wanted. */
export function hasTargets(existing: LoadBalancer, wanted: WantedTargets): boolean {
  const key = metadataKeys.nodesFingerprint;
  return existing.targetsDigest === wanted.digest && existing.metadata[key] === wanted.metadata[key];
}

function stampOf({ cluster, service }: LoadBalancerRef): Record<string, string> {
  return {
    ...clusterStamp(cluster),
    [serviceUidTag]: service.uid,
    [serviceNamespaceTag]: service.namespace,
    [serviceNameTag]: service.name,
  };
}

/** Nodes say themselves whether they want traffic; with the policy Cluster every node does, and none is asked. */
function healthCheckOf({
  healthCheck,
  externalTrafficPolicy,
}: WantedLoadBalancer): Pick<LoadBalancerSpec, "healthCheck"> {
  if (!healthCheck || externalTrafficPolicy === "Cluster") return {};
  const { port, path } = healthCheck;
  return { healthCheck: path === undefined ? { protocol: "tcp", port } : { protocol: "http", port, path } };
}

const toldNodes = 5;

function warnAbout(context: ChangeContext, reason: string, nodes: readonly TargetNode[]): void {
  if (nodes.length === 0) return;
  const told = nodes.slice(0, toldNodes).map(({ name }) => name);
  const more = nodes.length > toldNodes ? ` and ${nodes.length - toldNodes} more` : "";
  context.diagnose({
    reason,
    summary: `No targets, because their machines are not in this cloud: ${told.join(", ")}${more}`,
  });
}
