import {
  ExternalTrafficPolicy,
  LoadBalancerSpec as WireLoadBalancerSpec,
  type ServicePort as WireServicePort,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { valueOf } from "@cloudwire/proto/words";
import { deletionProtection, type Service, type ServicePort } from "../../api/service.ts";
import type { LoadBalancerPort, LoadBalancerSpec, ServiceRef } from "../model/load-balancer.ts";
import type { LoadBalancerCapabilities, ProviderInfo } from "../model/info.ts";
import { canonicalIp } from "../../util/cidr.ts";
import { sourceRanges } from "../../util/values/source-ranges.ts";
import { canonicalJson, digest, durationToProto, ipFamilyToProto, protocolToProto } from "./scalars.ts";

/** Path where kube-proxy reports whether the node has a pod of the Service. pkg/proxy/healthcheck/service_health.go v1.36.3. */
const HEALTH_CHECK_PATH = "/healthz";

/** Default of sessionAffinityConfig.clientIP.timeoutSeconds: 3 h. k8s.io/api/core/v1/types.go v0.36.3. */
const DEFAULT_AFFINITY_SECONDS = 10_800;

/** Longest `name_hint`, as upstream's DefaultLoadBalancerName. cloud-provider/cloud.go v0.36.3. */
const MAX_NAME_HINT = 32;

/** Options that apply to every load balancer. */
export interface LoadBalancerSettings {
  /** Tags of every created cloud object. */
  readonly tags: Readonly<Record<string, string>>;
}

/** Declarations of the provider that select the data it gets. */
export type DeclaredFeatures = Pick<ProviderInfo, "annotationPrefixes"> & {
  readonly loadBalancers: LoadBalancerCapabilities;
};

export function serviceRef({ metadata }: Service): ServiceRef {
  const { namespace, name, uid } = metadata;
  return { namespace, name, uid };
}

/** The Service's annotations with declared prefixes; no others are sent. */
export function declaredAnnotations(service: Service, prefixes: readonly string[]): Record<string, string> {
  const declared = Object.entries(service.metadata.annotations).filter(([key]) =>
    prefixes.some((prefix) => key.startsWith(prefix)),
  );
  return Object.fromEntries(declared);
}

/** The desired load balancer of `service` without unsupported parts: see `unsupportedRequests`. */
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
    requestedIps: loadBalancers.requestedIp && spec.loadBalancerIP !== "" ? [canonicalIp(spec.loadBalancerIP)] : [],
    annotations: declaredAnnotations(service, declared.annotationPrefixes),
    nameHint: nameHint(metadata.uid),
    tags: { ...settings.tags },
    ...(isProtected === undefined ? {} : { deletionProtection: isProtected }),
  };
}

export function loadBalancerSpecToProto(spec: LoadBalancerSpec): WireLoadBalancerSpec {
  const { class: loadBalancerClass, deletionProtection: isProtected, sourceRanges: cidrs } = spec;
  const { healthCheck: check, affinityTimeoutMs: timeoutMs } = spec;
  return {
    ...(loadBalancerClass === undefined ? {} : { class: loadBalancerClass }),
    ports: spec.ports.map((port) => portToProto(port)),
    ipFamilies: spec.ipFamilies.map((family) => ipFamilyToProto(family)),
    // Absent means that all clients are allowed.
    sourceRanges: cidrs.length === 0 ? undefined : { cidrs: [...cidrs] },
    externalTrafficPolicy: valueOf(TRAFFIC_POLICIES, spec.externalTrafficPolicy) ?? ExternalTrafficPolicy.UNSPECIFIED,
    healthCheck: check && { port: check.port, kind: { $case: "http", value: { path: check.path } } },
    sessionAffinity: timeoutMs === undefined ? undefined : { timeout: durationToProto(timeoutMs) },
    requestedIps: [...spec.requestedIps],
    annotations: { ...spec.annotations },
    nameHint: spec.nameHint,
    tags: { ...spec.tags },
    ...(isProtected === undefined ? {} : { deletionProtection: isProtected }),
  };
}

/** Changes with the fingerprint's algorithm, so that old and new ones never match. */
const SPEC_PREFIX = "s1-";

/**
 * Does not depend on the order of ports, source ranges and annotations. Removing deletion protection equals not setting it: both end
 * without our protection, so a restart causes no change.
 */
export function specFingerprint(spec: LoadBalancerSpec): string {
  const { deletionProtection: isProtected, ...wire } = loadBalancerSpecToProto(spec);
  const canonical: WireLoadBalancerSpec = {
    ...wire,
    ...(isProtected === true ? { deletionProtection: isProtected } : {}),
    ports: wire.ports.toSorted((a, b) => a.port - b.port || a.protocol - b.protocol),
    sourceRanges: wire.sourceRanges === undefined ? undefined : { cidrs: wire.sourceRanges.cidrs.toSorted() },
  };
  return SPEC_PREFIX + digest([canonicalJson(WireLoadBalancerSpec.toJSON(canonical))]);
}

/** Name of cloud objects, constant for the Service's life: `a` and its UID without dashes, as upstream. */
export function nameHint(uid: string): string {
  return `a${uid.toLowerCase().replaceAll(/[^a-z0-9]/g, "")}`.slice(0, MAX_NAME_HINT);
}

/** Supported families in the Service's order; only the first without dual stack. */
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

const TRAFFIC_POLICIES = { Local: ExternalTrafficPolicy.LOCAL, Cluster: ExternalTrafficPolicy.CLUSTER } as const;

/** Only policy Local has a health check on the node; with Cluster the provider chooses one. */
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
