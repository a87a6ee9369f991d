import { ADOPT_LOAD_BALANCER, DELETION_PROTECTION, LOAD_BALANCER_SOURCE_RANGES } from "./annotations.ts";
import type { Condition, KubeObject, ObjectReference } from "./meta.ts";

/** core/v1 Service: everything a load balancer can depend on. The pod selector is left out. */
export interface Service extends KubeObject {
  readonly spec: ServiceSpec;
  readonly status: ServiceStatus;
}

export interface ServiceSpec {
  /** "ClusterIP", "NodePort", "LoadBalancer" or "ExternalName". */
  readonly type: string;
  readonly ports: readonly ServicePort[];
  readonly clusterIP: string;
  readonly clusterIPs: readonly string[];
  readonly externalIPs: readonly string[];
  /** "IPv4" / "IPv6", primary first. */
  readonly ipFamilies: readonly string[];
  /** "SingleStack", "PreferDualStack" or "RequireDualStack". */
  readonly ipFamilyPolicy: string | undefined;
  /** "None" or "ClientIP". */
  readonly sessionAffinity: string;
  readonly sessionAffinityConfig: SessionAffinityConfig | undefined;
  readonly loadBalancerIP: string;
  readonly loadBalancerSourceRanges: readonly string[];
  readonly loadBalancerClass: string | undefined;
  /** "Cluster" or "Local"; "" for types that have none. */
  readonly externalTrafficPolicy: string;
  readonly internalTrafficPolicy: string | undefined;
  readonly trafficDistribution: string | undefined;
  readonly healthCheckNodePort: number;
  readonly allocateLoadBalancerNodePorts: boolean | undefined;
  readonly publishNotReadyAddresses: boolean;
}

export interface ServicePort {
  readonly name: string;
  /** "TCP", "UDP" or "SCTP". */
  readonly protocol: string;
  readonly appProtocol: string | undefined;
  readonly port: number;
  /** A number, or the name of a container port. */
  readonly targetPort: number | string;
  /** 0 when none is allocated. */
  readonly nodePort: number;
}

export interface SessionAffinityConfig {
  readonly clientIP: { readonly timeoutSeconds: number | undefined } | undefined;
}

export interface ServiceStatus {
  readonly loadBalancer: { readonly ingress: readonly LoadBalancerIngress[] };
  readonly conditions: readonly Condition[];
}

export interface LoadBalancerIngress {
  readonly ip: string;
  readonly hostname: string;
  /** "VIP" or "Proxy"; the server fills "VIP" where an ip has none. */
  readonly ipMode: string | undefined;
  readonly ports: readonly PortStatus[];
}

export interface PortStatus {
  readonly port: number;
  readonly protocol: string;
  readonly error: string | undefined;
}

/** What annotation {@link DELETION_PROTECTION} says; undefined: nothing. */
export function deletionProtection({ metadata }: Service): boolean | undefined {
  const value = metadata.annotations[DELETION_PROTECTION];
  return value === undefined ? undefined : !isClearlyFalse(value);
}

/** Id of the load balancer that the Service asks to take over. */
export function loadBalancerToAdopt({ metadata }: Service): string | undefined {
  const id = metadata.annotations[ADOPT_LOAD_BALANCER]?.trim();
  return id === "" ? undefined : id;
}

/** Reference for Events about a Service; carries the version seen, as client-go's reference helper does. */
export function serviceReference({ metadata }: KubeObject): ObjectReference {
  const { namespace, name, uid, resourceVersion } = metadata;
  return { apiVersion: "v1", kind: "Service", namespace, name, uid, resourceVersion };
}

/** What Go's strconv.ParseBool takes for false. */
const FALSE: ReadonlySet<string> = new Set(["0", "f", "F", "false", "False", "FALSE"]);

/** Labels and annotations that keep something from happening are in force unless they clearly say no: a word misspelled does no harm. */
export function isClearlyFalse(value: string): boolean {
  return FALSE.has(value);
}

/** Client ranges let in: of the spec, else of the older annotation; empty lets everybody in. cloud-provider/service/helpers/helper.go v0.36.3. */
export function sourceRanges(service: Service): readonly string[] {
  const { loadBalancerSourceRanges } = service.spec;
  const ranges =
    loadBalancerSourceRanges.length > 0
      ? loadBalancerSourceRanges
      : (service.metadata.annotations[LOAD_BALANCER_SOURCE_RANGES] ?? "").split(",");
  return ranges.map((range) => range.trim()).filter((range) => range !== "");
}
