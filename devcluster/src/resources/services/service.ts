import type { KubeObject, StringMap } from "../../object.ts";

export type ServicePort = Readonly<{
  name?: string | undefined;
  protocol?: string | undefined;
  appProtocol?: string | undefined;
  port: number;
  targetPort: number | string;
  nodePort?: number | undefined;
}>;

export type Ingress = Readonly<{
  ip?: string | undefined;
  hostname?: string | undefined;
  ipMode?: string | undefined;
}>;

export type ServiceSpec = Readonly<{
  ports?: readonly ServicePort[] | undefined;
  selector?: StringMap | undefined;
  clusterIP?: string | undefined;
  clusterIPs?: readonly string[] | undefined;
  type?: string | undefined;
  externalIPs?: readonly string[] | undefined;
  sessionAffinity?: string | undefined;
  loadBalancerSourceRanges?: readonly string[] | undefined;
  externalName?: string | undefined;
  loadBalancerIP?: string | undefined;
  externalTrafficPolicy?: string | undefined;
  healthCheckNodePort?: number | undefined;
  sessionAffinityConfig?:
    | Readonly<{ clientIP?: Readonly<{ timeoutSeconds?: number | undefined }> | undefined }>
    | undefined;
  ipFamilies?: readonly string[] | undefined;
  ipFamilyPolicy?: string | undefined;
  allocateLoadBalancerNodePorts?: boolean | undefined;
  loadBalancerClass?: string | undefined;
  internalTrafficPolicy?: string | undefined;
  trafficDistribution?: string | undefined;
}>;

export type Service = KubeObject &
  Readonly<{
    spec: ServiceSpec;
    status: Readonly<{ loadBalancer: Readonly<{ ingress?: readonly Ingress[] | undefined }> }>;
  }>;

/** The clusterIP of a headless service. */
export const noClusterIp = "None";

export function isHeadless({ spec }: Service): boolean {
  return spec.clusterIPs?.length === 1 && spec.clusterIPs[0] === noClusterIp;
}

export function isLoadBalancer({ spec }: Service): boolean {
  return spec.type === "LoadBalancer";
}

export function isExternalName({ spec }: Service): boolean {
  return spec.type === "ExternalName";
}

export function isExternallyAccessible({ spec }: Service): boolean {
  return (
    spec.type === "LoadBalancer" ||
    spec.type === "NodePort" ||
    (spec.type === "ClusterIP" && (spec.externalIPs?.length ?? 0) > 0)
  );
}

/** Load balancers that only send to nodes with an endpoint ask each node on a port of its own. */
export function needsHealthCheckPort(service: Service): boolean {
  return isLoadBalancer(service) && service.spec.externalTrafficPolicy === "Local";
}

/** The node ports of the service's ports, without those not allocated. */
export function nodePortsOf({ spec }: Service): readonly number[] {
  return (spec.ports ?? []).flatMap(({ nodePort }) => (nodePort === undefined || nodePort === 0 ? [] : [nodePort]));
}

/** The service with other fields in its spec; undefined clears one. */
export function withSpec(service: Service, change: Partial<ServiceSpec>): Service {
  return { ...service, spec: { ...service.spec, ...change } };
}
