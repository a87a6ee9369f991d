import { ProviderError, type DesiredLoadBalancer } from "@cloudwire/provider-sdk";
import type { Allocated } from "../plan/addresses.ts";
import type { LoadBalancerRecord, PortRecord, Target } from "../state/state.ts";
import { canonicalRanges, parseCidr } from "@cloudwire/provider-sdk/addresses";
import type { AnnotationSettings } from "./annotations.ts";

/** The part of the spec that forwarding needs, validated. @throws ProviderError */
export function toRecord(
  wanted: DesiredLoadBalancer,
  { forwarder, hidesClients, sendsProxyHeader }: AnnotationSettings,
  targets: readonly Target[],
  addresses: readonly Allocated[],
  existing: LoadBalancerRecord | undefined,
): Omit<LoadBalancerRecord, "revision"> {
  const { key, cluster, service, tags, specFingerprint, nodesFingerprint, healthCheck } = wanted;
  return {
    key,
    cluster: { id: cluster.id, ...(cluster.name === undefined ? {} : { name: cluster.name }) },
    service: { namespace: service.namespace, name: service.name, uid: service.uid },
    forwarder,
    addresses: addresses.map(({ address, pool }) => ({ address, pool })),
    ports: wanted.ports.map(toPort),
    targets: targets.map((target) => ({ ...target })),
    // nftables refuses a set in which one range contains another.
    sourceRanges: [...canonicalRanges(wanted.sourceRanges.map(toRange))],
    ...(healthCheck === undefined ? {} : { healthCheck: toHealthCheck(healthCheck) }),
    hasAffinity: wanted.sessionAffinity !== undefined,
    hidesClients,
    sendsProxyHeader,
    isProtected: wanted.deletionProtection ?? existing?.isProtected ?? false,
    tags: { ...tags },
    specFingerprint,
    nodesFingerprint,
    isDeleting: false,
  };
}

function toPort({ protocol, port, nodePort }: DesiredLoadBalancer["ports"][number], index: number): PortRecord {
  if (nodePort === undefined) {
    const message = `port ${port} has no node port: set allocateLoadBalancerNodePorts of the Service`;
    throw new ProviderError("FEATURE_UNSUPPORTED", message, { field: `spec.ports[${index}].node_port` });
  }
  if (protocol === "SCTP") {
    const message = "SCTP is not forwarded";
    throw new ProviderError("PORT_PROTOCOL_UNSUPPORTED", message, { field: `spec.ports[${index}].protocol` });
  }
  return { protocol, port, nodePort };
}

function toRange(text: string, index: number): string {
  const range = parseCidr(text);
  if (range !== undefined) return range.text;
  throw new ProviderError("FIELD_INVALID", `source range ${text} is not a network`, {
    field: `spec.source_ranges[${index}]`,
  });
}

function toHealthCheck({ port, path }: NonNullable<DesiredLoadBalancer["healthCheck"]>): {
  port: number;
  path?: string;
} {
  // It becomes part of HAProxy's configuration.
  if (path !== undefined && !/^\/[A-Za-z0-9._~!$&()*+,;=:@%/?-]*$/.test(path)) {
    throw new ProviderError("FIELD_INVALID", `health check path ${path} is not a URL path`, {
      field: "spec.health_check.path",
    });
  }
  return { port, ...(path === undefined ? {} : { path }) };
}
