import type { ObjectMeta } from "../../src/api/meta.ts";
import type { Node, NodeSpec, NodeStatus, NodeSystemInfo, Taint } from "../../src/api/node.ts";
import type { Instance } from "../../src/provider/model/instance.ts";
import type { LoadBalancerIngress, Service, ServicePort, ServiceSpec, ServiceStatus } from "../../src/api/service.ts";

/** Creation time of everything built here. */
export const CREATED_MS = Date.UTC(2026, 10, 21, 11, 0, 0);

type Meta = Partial<ObjectMeta>;

export function objectMeta(meta: Meta & { readonly name: string }): ObjectMeta {
  return {
    namespace: "",
    uid: `uid-${meta.namespace === undefined ? "" : `${meta.namespace}-`}${meta.name}`,
    resourceVersion: "1",
    generation: 1,
    creationTimestampMs: CREATED_MS,
    deletionTimestampMs: undefined,
    labels: {},
    annotations: {},
    finalizers: [],
    ...meta,
  };
}

/** The parts of a node a test cares about; all else is as kubelet registers it (Ready, no cloud facts). */
export interface NodeParts {
  readonly metadata?: Meta;
  readonly spec?: Partial<NodeSpec>;
  readonly status?: Partial<Omit<NodeStatus, "nodeInfo">> & { readonly nodeInfo?: Partial<NodeSystemInfo> };
}

export function node(name: string, parts: NodeParts = {}): Node {
  const { nodeInfo, ...status } = parts.status ?? {};
  return {
    metadata: objectMeta({ ...parts.metadata, name }),
    spec: { podCIDR: "", podCIDRs: [], providerID: "", unschedulable: false, taints: [], ...parts.spec },
    status: {
      conditions: [{ type: "Ready", status: "True", lastTransitionTimeMs: CREATED_MS, reason: "KubeletReady" }],
      addresses: [],
      ...status,
      nodeInfo: { systemUUID: `system-${name}`, ...nodeInfo },
    },
  };
}

/** A running instance without further data. */
export function instance(parts: Partial<Instance> = {}): Instance {
  return {
    providerId: "acme://1",
    name: "node-a",
    instanceType: undefined,
    zone: undefined,
    region: undefined,
    addresses: [],
    state: "running",
    stateReason: "",
    labels: {},
    podCidrs: undefined,
    createTimeMs: undefined,
    revision: "",
    warnings: [],
    ...parts,
  };
}

export function taint(key: string, effect = "NoSchedule", value = ""): Taint {
  return { key, value, effect, timeAddedMs: undefined };
}

/** The parts of a Service a test cares about; all else is a valid LoadBalancer Service with one TCP port. */
export interface ServiceParts {
  readonly metadata?: Meta;
  readonly spec?: Partial<ServiceSpec>;
  readonly status?: Partial<ServiceStatus>;
}

export function service(name: string, parts: ServiceParts = {}): Service {
  return {
    metadata: objectMeta({ namespace: "default", ...parts.metadata, name }),
    spec: {
      type: "LoadBalancer",
      ports: [servicePort()],
      clusterIP: "10.96.0.10",
      clusterIPs: ["10.96.0.10"],
      externalIPs: [],
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      sessionAffinity: "None",
      sessionAffinityConfig: undefined,
      loadBalancerIP: "",
      loadBalancerSourceRanges: [],
      loadBalancerClass: undefined,
      externalTrafficPolicy: "Cluster",
      internalTrafficPolicy: "Cluster",
      trafficDistribution: undefined,
      healthCheckNodePort: 0,
      allocateLoadBalancerNodePorts: true,
      publishNotReadyAddresses: false,
      ...parts.spec,
    },
    status: { loadBalancer: { ingress: [] }, conditions: [], ...parts.status },
  };
}

export function servicePort(parts: Partial<ServicePort> = {}): ServicePort {
  return { name: "", protocol: "TCP", appProtocol: undefined, port: 80, targetPort: 8080, nodePort: 30_080, ...parts };
}

export function ingress(parts: Partial<LoadBalancerIngress>): LoadBalancerIngress {
  return { ip: "", hostname: "", ipMode: undefined, ports: [], ...parts };
}
