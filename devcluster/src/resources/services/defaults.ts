import { type Service, type ServicePort, isExternallyAccessible, withSpec } from "./service.ts";

/** Three hours (upstream DefaultClientIPServiceAffinitySeconds). */
const stickySeconds = 10_800;

/** What the API fills in whenever it reads a Service (upstream pkg/apis/core/v1/defaults.go SetDefaults_Service, v1.37). */
export function applyServiceDefaults(service: Service): Service {
  const { spec } = service;
  const type = spec.type ?? "ClusterIP";
  const affinity = spec.sessionAffinity ?? "None";
  const withType = withSpec(service, {
    type,
    ports: spec.ports?.map(applyPortDefaults),
    sessionAffinity: affinity,
    sessionAffinityConfig: affinityConfig(service, affinity),
  });
  const isBalanced = type === "LoadBalancer";
  const complete = withSpec(withType, {
    externalTrafficPolicy: spec.externalTrafficPolicy ?? (isExternallyAccessible(withType) ? "Cluster" : undefined),
    internalTrafficPolicy: type === "ExternalName" ? undefined : (spec.internalTrafficPolicy ?? "Cluster"),
    allocateLoadBalancerNodePorts: spec.allocateLoadBalancerNodePorts ?? (isBalanced ? true : undefined),
  });
  return isBalanced ? withIngressModes(complete) : complete;
}

function applyPortDefaults(port: ServicePort): ServicePort {
  const unset = port.targetPort === 0 || port.targetPort === "";
  return { ...port, protocol: port.protocol ?? "TCP", targetPort: unset ? port.port : port.targetPort };
}

function affinityConfig({ spec }: Service, affinity: string): Service["spec"]["sessionAffinityConfig"] {
  if (affinity === "None") return undefined;
  const timeoutSeconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
  return affinity === "ClientIP" && timeoutSeconds === undefined
    ? { clientIP: { timeoutSeconds: stickySeconds } }
    : spec.sessionAffinityConfig;
}

function withIngressModes(service: Service): Service {
  const { ingress } = service.status.loadBalancer;
  if (ingress === undefined) return service;
  const complete = ingress.map((entry) => ({
    ...entry,
    ipMode: entry.ipMode ?? (entry.ip === undefined ? undefined : "VIP"),
  }));
  return {
    ...service,
    status: { ...service.status, loadBalancer: { ...service.status.loadBalancer, ingress: complete } },
  };
}
