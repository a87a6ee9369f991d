import { ADOPT_LOAD_BALANCER, DELETION_PROTECTION } from "./annotations.ts";
import type { Condition, KubeObject, ObjectReference } from "./meta.ts";

/** core/v1 Service, without the pod selector. */
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
  /** "Cluster" or "Local"; "" for types without external traffic. */
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
  /** 0 if none is allocated. */
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
  /** "VIP" or "Proxy"; the server defaults to "VIP" for an IP. */
  readonly ipMode: string | undefined;
  readonly ports: readonly PortStatus[];
}

export interface PortStatus {
  readonly port: number;
  readonly protocol: string;
  readonly error: string | undefined;
}

/** Value of annotation {@link DELETION_PROTECTION}. */
export function deletionProtection({ metadata }: Service): boolean | undefined {
  const value = metadata.annotations[DELETION_PROTECTION];
  return value === undefined ? undefined : !isClearlyFalse(value);
}

/** ID of the load balancer that the Service requests to adopt. */
export function loadBalancerToAdopt({ metadata }: Service): string | undefined {
  const id = metadata.annotations[ADOPT_LOAD_BALANCER]?.trim();
  return id === "" ? undefined : id;
}

/** With resourceVersion, as client-go's reference helper builds it. */
export function serviceReference({ metadata }: KubeObject): ObjectReference {
  const { namespace, name, uid, resourceVersion } = metadata;
  return { apiVersion: "v1", kind: "Service", namespace, name, uid, resourceVersion };
}

/** As Go's strconv.ParseBool. */
const FALSE: ReadonlySet<string> = new Set(["0", "f", "F", "false", "False", "FALSE"]);

/** Labels and annotations that prevent an action are in force with any other value, so that a typo does no harm. */
export function isClearlyFalse(value: string): boolean {
  return FALSE.has(value);
}
