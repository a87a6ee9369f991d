import {
  ExternalTrafficPolicy,
  LoadBalancerSpec as WireLoadBalancerSpec,
  type ServicePort as WireServicePort,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { deletionProtection, type Service, type ServicePort, sourceRanges } from "../../api/service.ts";
import type { LoadBalancerPort, LoadBalancerSpec, ServiceRef } from "../model/load-balancer.ts";
import type { LoadBalancerCapabilities, ProviderInfo } from "../model/info.ts";
import { canonicalJson, digest, durationToProto, ipFamilyToProto, protocolToProto } from "./scalars.ts";

/** Where kube-proxy tells whether a node has a pod of the Service. pkg/proxy/healthcheck/service_health.go v1.36.3. */
const HEALTH_CHECK_PATH = "/healthz";

/** Default of sessionAffinityConfig.clientIP.timeoutSeconds: 3 h. k8s.io/api/core/v1/types.go v0.36.3. */
const DEFAULT_AFFINITY_SECONDS = 10_800;

/** Longest `name_hint`; upstream's DefaultLoadBalancerName cuts there too. cloud-provider/cloud.go v0.36.3. */
const MAX_NAME_HINT = 32;

/** Settings of the operator that go into every load balancer. */
export interface LoadBalancerSettings {
  /** Tags to put on every cloud object made. */
  readonly tags: Readonly<Record<string, string>>;
}

/** What the provider declared that decides which parts of a Service it is sent. */
export type DeclaredFeatures = Pick<ProviderInfo, "annotationPrefixes"> & {
  readonly loadBalancers: LoadBalancerCapabilities;
};

export function serviceRef({ metadata }: Service): ServiceRef {
  const { namespace, name, uid } = metadata;
  return { namespace, name, uid };
}

/** The Service's annotations under prefixes that the provider declared; no others are ever sent. */
export function declaredAnnotations(service: Service, prefixes: readonly string[]): Record<string, string> {
  const declared = Object.entries(service.metadata.annotations).filter(([key]) =>
    prefixes.some((prefix) => key.startsWith(prefix)),
  );
  return Object.fromEntries(declared);
}

/** The load balancer that `service` wishes for, without what the provider does not serve: see `unsupportedRequests`. */
export function loadBalancerSpec(
  service: Service,
  declared: DeclaredFeatures,
  settings: LoadBalancerSettings,
): LoadBalancerSpec {
  const { spec, metadata } = service;
  const { loadBalancers } = declared;
  const isProtected = loadBalancers.deletionProtection ? deletionProtection(service) : undefined;
  return {
    ...(spec.loadBalancerClass === undefined ? {} : { class: spec.loadBalancerClass }),
    ports: spec.ports.map((port) => portOf(port)),
    ipFamilies: servedFamilies(spec.ipFamilies, loadBalancers),
    sourceRanges: loadBalancers.sourceRanges ? sourceRanges(service) : [],
    externalTrafficPolicy: spec.externalTrafficPolicy,
    healthCheck: healthCheck(service),
    affinityTimeoutMs: loadBalancers.sessionAffinity ? affinityTimeoutMs(service) : undefined,
    requestedIps: loadBalancers.requestedIp && spec.loadBalancerIP !== "" ? [spec.loadBalancerIP] : [],
    annotations: declaredAnnotations(service, declared.annotationPrefixes),
    nameHint: nameHint(metadata.uid),
    tags: { ...settings.tags },
    ...(isProtected === undefined ? {} : { deletionProtection: isProtected }),
  };
}

export function loadBalancerSpecToProto(wish: LoadBalancerSpec): WireLoadBalancerSpec {
  const { class: loadBalancerClass, deletionProtection: isProtected, sourceRanges: cidrs } = wish;
  const { healthCheck: check, affinityTimeoutMs: timeoutMs } = wish;
  return {
    ...(loadBalancerClass === undefined ? {} : { class: loadBalancerClass }),
    ports: wish.ports.map((port) => portToProto(port)),
    ipFamilies: wish.ipFamilies.map((family) => ipFamilyToProto(family)),
    // Absent lets everybody in: a list that is empty must never come to mean that.
    sourceRanges: cidrs.length === 0 ? undefined : { cidrs: [...cidrs] },
    externalTrafficPolicy: trafficPolicy(wish.externalTrafficPolicy),
    healthCheck: check && { port: check.port, kind: { $case: "http", value: { path: check.path } } },
    sessionAffinity: timeoutMs === undefined ? undefined : { timeout: durationToProto(timeoutMs) },
    requestedIps: [...wish.requestedIps],
    annotations: { ...wish.annotations },
    nameHint: wish.nameHint,
    tags: { ...wish.tags },
    ...(isProtected === undefined ? {} : { deletionProtection: isProtected }),
  };
}

/** Changes with the way fingerprints are made, so that old ones never equal new ones by chance. */
const SPEC_PREFIX = "s1-";

/**
 * Equal for equal wishes, whatever the order of their ports, ranges and annotations. To lift a protection and to say nothing of one are
 * equal: both end without one of ours, and a process that forgets having lifted it has nothing to change.
 */
export function specFingerprint(wish: LoadBalancerSpec): string {
  const { deletionProtection: isProtected, ...spec } = loadBalancerSpecToProto(wish);
  const canonical: WireLoadBalancerSpec = {
    ...spec,
    ...(isProtected === true ? { deletionProtection: isProtected } : {}),
    ports: spec.ports.toSorted((a, b) => a.port - b.port || a.protocol - b.protocol),
    sourceRanges: spec.sourceRanges === undefined ? undefined : { cidrs: spec.sourceRanges.cidrs.toSorted() },
  };
  return SPEC_PREFIX + digest([canonicalJson(WireLoadBalancerSpec.toJSON(canonical))]);
}

/** A name for cloud objects, the same for the life of the Service: `a` and its UID without dashes, as upstream makes it. */
export function nameHint(uid: string): string {
  return `a${uid.toLowerCase().replaceAll(/[^a-z0-9]/g, "")}`.slice(0, MAX_NAME_HINT);
}

/** Families that the provider serves, the Service's first choice first. Without dual stack only that one. */
function servedFamilies(families: readonly string[], capabilities: LoadBalancerCapabilities): readonly string[] {
  const served = families.filter((family) => capabilities.ipFamilies.some((known) => known === family));
  return capabilities.dualStack ? served : served.slice(0, 1);
}

function portOf({ name, protocol, appProtocol, port, nodePort, targetPort }: ServicePort): LoadBalancerPort {
  return {
    name,
    protocol,
    port,
    ...(appProtocol === undefined ? {} : { appProtocol }),
    ...(nodePort === 0 ? {} : { nodePort }),
    ...(typeof targetPort === "number" && targetPort > 0 ? { targetPort } : {}),
  };
}

function portToProto(port: LoadBalancerPort): WireServicePort {
  return { ...port, protocol: protocolToProto(port.protocol) };
}

function trafficPolicy(policy: string): ExternalTrafficPolicy {
  switch (policy) {
    case "Local":
      return ExternalTrafficPolicy.LOCAL;
    case "Cluster":
      return ExternalTrafficPolicy.CLUSTER;
    default:
      return ExternalTrafficPolicy.UNSPECIFIED;
  }
}

/** Only policy Local has a health check on the node; with Cluster the provider checks its own way. */
function healthCheck({ spec }: Service): LoadBalancerSpec["healthCheck"] {
  if (spec.type !== "LoadBalancer" || spec.externalTrafficPolicy !== "Local" || spec.healthCheckNodePort === 0) {
    return undefined;
  }
  return { port: spec.healthCheckNodePort, path: HEALTH_CHECK_PATH };
}

function affinityTimeoutMs({ spec }: Service): number | undefined {
  if (spec.sessionAffinity !== "ClientIP") return undefined;
  const seconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? DEFAULT_AFFINITY_SECONDS;
  return seconds * 1000;
}
