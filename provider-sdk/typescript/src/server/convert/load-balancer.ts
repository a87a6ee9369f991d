import { createHash } from "node:crypto";
import { IpMode } from "@cloudwire/proto/cloudprovider/v1/identity";
import {
  ExternalTrafficPolicy,
  type HealthCheck as WireHealthCheck,
  type LoadBalancer as WireLoadBalancer,
  type LoadBalancerIngress as WireIngress,
  LoadBalancerPhase as WirePhase,
  type LoadBalancerSpec,
  type ServicePort as WireServicePort,
  type ServiceRef as WireServiceRef,
  type TargetNode as WireTargetNode,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { canonicalAddress, canonicalCidr } from "../../addresses/ip.ts";
import type { Cluster } from "../../definition/common.ts";
import type {
  LoadBalancer,
  LoadBalancerIngress,
  LoadBalancerPhase,
  UnregisteredNode,
} from "../../definition/load-balancers.ts";
import type {
  HealthCheck,
  ServicePort,
  ServiceRef,
  TargetNode,
  DesiredLoadBalancer,
} from "../../definition/requests.ts";
import { fromDuration } from "../../util/clock.ts";
import {
  fromWireAddresses,
  fromWireIpFamily,
  fromWireProtocol,
  toWireCondition,
  toWireMessage,
  toWireOperation,
  toWireProtocol,
} from "./common.ts";
import type { ProviderIds } from "./provider-ids.ts";

/**
 * The natural key of a load balancer: `k8s-` and 28 characters of a hash of cluster and Service UID. Part of what
 * vendors name cloud objects after: never change it.
 */
const loadBalancerKey = (clusterId: string, serviceUid: string): string => {
  const hash = createHash("sha256").update(`${clusterId}\0${serviceUid}`).digest("hex");
  return `k8s-${hash.slice(0, 28)}`;
};

const fromWireService = (service: WireServiceRef | undefined): ServiceRef => ({
  namespace: service?.namespace ?? "",
  name: service?.name ?? "",
  uid: service?.uid ?? "",
});

export const toWireService = (service: ServiceRef): WireServiceRef => ({
  namespace: service.namespace,
  name: service.name,
  uid: service.uid,
});

/** Target nodes as a provider reads them. */
export const fromWireTargetNode = (node: WireTargetNode, ids: ProviderIds): TargetNode => {
  const addresses = fromWireAddresses(node.addresses);
  const ip = addresses.find(({ type }) => type === "InternalIP")?.address;
  const parts = ids.parse(node.providerId);
  return {
    name: node.name,
    providerId: node.providerId,
    ...(parts ? { id: parts.id } : {}),
    ...(ip === undefined ? {} : { ip }),
    addresses,
    ...(node.zone === undefined ? {} : { zone: node.zone }),
    labels: node.labels,
  };
};

/** Kubernetes' default for client-IP affinity, 3 h. */
const defaultAffinityTimeoutMs = 10_800_000;

type WantedSpec = Omit<
  DesiredLoadBalancer,
  | "key"
  | "cluster"
  | "service"
  | "id"
  | "operationId"
  | "nodes"
  | "nodesDiff"
  | "nodesFingerprint"
  | "specFingerprint"
  | "adopt"
>;

/** The spec as a provider reads it. Validation has rejected undeclared protocols. */
export const fromWireSpec = (spec: LoadBalancerSpec): WantedSpec => ({
  ...(spec.class === undefined ? {} : { class: spec.class }),
  annotations: spec.annotations,
  ports: spec.ports.map(fromWirePort),
  ipFamilies: spec.ipFamilies.length === 0 ? ["IPv4"] : spec.ipFamilies.map(fromWireIpFamily),
  sourceRanges: [...new Set(spec.sourceRanges?.cidrs.map(canonicalCidr))],
  externalTrafficPolicy: spec.externalTrafficPolicy === ExternalTrafficPolicy.LOCAL ? "Local" : "Cluster",
  ...optionalHealthCheck(spec.healthCheck),
  ...(spec.sessionAffinity
    ? { sessionAffinity: { timeoutMs: fromDuration(spec.sessionAffinity.timeout, defaultAffinityTimeoutMs) } }
    : {}),
  requestedIps: spec.requestedIps.map((ip) => canonicalAddress(ip) ?? ip),
  ...(spec.nameHint ? { nameHint: spec.nameHint } : {}),
  tags: spec.tags,
  ...(spec.deletionProtection === undefined ? {} : { deletionProtection: spec.deletionProtection }),
});

/** Validation has refused a check of no kind. */
const optionalHealthCheck = (check: WireHealthCheck | undefined): { readonly healthCheck?: HealthCheck } => {
  switch (check?.kind?.$case) {
    case "tcp":
      return { healthCheck: { port: check.port } };
    case "http":
      return { healthCheck: { port: check.port, path: check.kind.value.path } };
    default:
      return {};
  }
};

const fromWirePort = (port: WireServicePort): ServicePort => ({
  ...(port.name ? { name: port.name } : {}),
  protocol: fromWireProtocol(port.protocol) ?? "TCP",
  ...(port.appProtocol === undefined ? {} : { appProtocol: port.appProtocol }),
  port: port.port,
  ...(port.nodePort === undefined ? {} : { nodePort: port.nodePort }),
  ...(port.targetPort === undefined ? {} : { targetPort: port.targetPort }),
});

const wirePhases = {
  PROVISIONING: WirePhase.PROVISIONING,
  ACTIVE: WirePhase.ACTIVE,
  UPDATING: WirePhase.UPDATING,
  DELETING: WirePhase.DELETING,
  FAILED: WirePhase.FAILED,
} as const satisfies Record<LoadBalancerPhase, WirePhase>;

/** Defaults for fields that the provider left out: the requested Service, and the spec just applied. */
export interface LoadBalancerDefaults {
  readonly service?: WireServiceRef | undefined;
  readonly specFingerprint?: string | undefined;
  readonly nodesFingerprint?: string | undefined;
}

/** A load balancer as it travels. */
export const toWireLoadBalancer = (answer: LoadBalancer, defaults: LoadBalancerDefaults): WireLoadBalancer => {
  const working = answer.operation !== undefined;
  return {
    id: answer.id,
    service: answer.service ? toWireService(answer.service) : defaults.service,
    phase: wirePhases[answer.phase ?? (working ? "PROVISIONING" : "ACTIVE")],
    ingress: answer.ingress && { items: answer.ingress.map(toWireIngress) },
    ...inForce(answer, working || answer.phase === "FAILED" ? {} : defaults),
    observedFingerprint: answer.observedFingerprint ?? "",
    registeredNodes: answer.registeredNodes,
    conditions: (answer.conditions ?? []).map(toWireCondition),
    operation: answer.operation ? toWireOperation(answer.operation) : undefined,
    tags: boundedTags(answer.tags ?? {}),
    lockKey: answer.lockKey ?? "",
    unregisteredNodes: (answer.unregisteredNodes ?? []).slice(0, maxUnregisteredNodes).map(toWireUnregisteredNode),
    previousObservedFingerprint: answer.previousObservedFingerprint ?? "",
  };
};

/** `LoadBalancer.tags`, max_items and max_total_bytes. */
const maxTags = 50;
const maxTagBytes = 4_096;

/** Clouds permit more tags than a response. The largest ones, which are those of other programs, are left out. */
const boundedTags = (tags: Readonly<Record<string, string>>): Record<string, string> => {
  const bySize = Object.entries(tags)
    .map(([key, value]) => ({ key, value, bytes: Buffer.byteLength(key) + Buffer.byteLength(value) }))
    .toSorted((left, right) => left.bytes - right.bytes);
  let bytes = 0;
  const kept = bySize.filter((tag, index) => index < maxTags && (bytes += tag.bytes) <= maxTagBytes);
  return kept.length === bySize.length ? { ...tags } : Object.fromEntries(kept.map(({ key, value }) => [key, value]));
};

/** `LoadBalancer.unregistered_nodes`, max_items. */
const maxUnregisteredNodes = 100;

const toWireUnregisteredNode = ({ name, providerId = "", reason, message = "" }: UnregisteredNode) => ({
  name,
  providerId,
  reason,
  message: toWireMessage(message),
});

/** The fingerprints in force: the provider's, else those of the finished change. Nodes that are not all targets are not in force. */
const inForce = (answer: LoadBalancer, asked: LoadBalancerDefaults) => ({
  specFingerprint: answer.specFingerprint ?? asked.specFingerprint ?? "",
  nodesFingerprint: isPartial(answer) ? "" : (answer.nodesFingerprint ?? asked.nodesFingerprint ?? ""),
});

const isPartial = ({ unregisteredNodes = [] }: LoadBalancer): boolean => unregisteredNodes.length > 0;

const toWireIngress = (ingress: LoadBalancerIngress): WireIngress => ({
  ip: ingress.ip,
  hostname: ingress.hostname,
  ipMode: toWireIpMode(ingress.ipMode),
  ports: (ingress.ports ?? []).map(({ port, protocol, error }) => ({
    port,
    protocol: toWireProtocol(protocol),
    error,
  })),
});

export const toWireIpMode = (mode: "VIP" | "Proxy" | undefined) => {
  if (mode === undefined) return IpMode.UNSPECIFIED;
  return mode === "Proxy" ? IpMode.PROXY : IpMode.VIP;
};

/** The part of a load-balancer reference that comes from the request. */
export const loadBalancerRef = (cluster: Cluster, service: WireServiceRef | undefined) => {
  const ref = fromWireService(service);
  return { key: loadBalancerKey(cluster.id, ref.uid), cluster, service: ref };
};
