import {
  type HealthCheck,
  type ServicePort,
  ownershipTagsOf,
  type TargetNode,
  type DesiredLoadBalancer,
} from "@cloudwire/provider-sdk";
import { canonicalRanges } from "@cloudwire/provider-sdk/addresses";
import { type Annotations, isInternal, readAnnotations } from "./annotations.ts";
import { toTags, userTags } from "./ownership.ts";

/** Settings of the operator for all load balancers. */
export interface LoadBalancerSettings {
  /** Subnet of the load balancers' own addresses. */
  readonly vipSubnetId: string;
  /** Subnet of the nodes. Undefined: they are reached from the load balancers' subnet. */
  readonly memberSubnetId?: string | undefined;
  /** Network of floating IPs. Undefined: load balancers have their own addresses only. */
  readonly floatingNetworkId?: string | undefined;
  /** Octavia's provider driver. Undefined: the cloud's own choice. */
  readonly octaviaProvider?: string | undefined;
}

/** A desired target of a pool. */
export interface DesiredMember {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly subnetId?: string | undefined;
  /** Where it is asked for its health; undefined: at its port. */
  readonly monitorPort?: number | undefined;
}

/** A desired health monitor. */
export interface DesiredMonitor {
  readonly type: "TCP" | "HTTP" | "UDP-CONNECT";
  readonly path?: string | undefined;
  readonly delaySeconds: number;
  readonly timeoutSeconds: number;
  readonly maxRetries: number;
  readonly maxRetriesDown: number;
}

/** A desired pool. Its name contains its port and protocols, so that a change that cannot be made in place, or would cut connections, creates another pool. */
export interface DesiredPool {
  readonly name: string;
  readonly protocol: "TCP" | "UDP" | "HTTP" | "PROXY" | "PROXYV2";
  readonly nodePort: number;
  /** Port on the nodes that is asked for their health; undefined: the node port. */
  readonly monitorPort?: number | undefined;
  /** Undefined: any client goes to any node. */
  readonly affinity?: { readonly timeoutSeconds?: number | undefined } | undefined;
  readonly monitor?: DesiredMonitor | undefined;
}

/** A desired listener and its pool. */
export interface DesiredListener {
  readonly name: string;
  readonly protocol: "TCP" | "UDP" | "HTTP";
  readonly port: number;
  /** Of Octavia's own names; those that are not named stay as they are. */
  readonly options: Readonly<Record<string, number>>;
  readonly allowedCidrs: readonly string[];
  readonly forwardedFor: boolean;
  readonly pool: DesiredPool;
}

/** The desired load balancer, in Octavia's terms. */
export interface OctaviaSpec {
  readonly name: string;
  readonly listeners: readonly DesiredListener[];
  /** Without those that keep fingerprints. */
  readonly tags: readonly string[];
  /** Fields of the load balancer that are set only on creation. */
  readonly creation: Readonly<Record<string, string>>;
  /** True: these fields are the operator's, and the Service has chosen none of them. */
  readonly isOfSettings: boolean;
  /** Undefined: it has no address from outside. */
  readonly floating?: FloatingIpSpec | undefined;
  readonly memberSubnetId?: string | undefined;
}

export interface FloatingIpSpec {
  readonly networkId: string;
  readonly subnetId?: string | undefined;
  /** The address that is wanted; undefined: any. */
  readonly address?: string | undefined;
}

/** @throws ProviderError for unsupported annotations */
export function toOctaviaSpec(wanted: DesiredLoadBalancer, settings: LoadBalancerSettings): OctaviaSpec {
  const read = readAnnotations(wanted.annotations);
  const floating = floatingIpSpec(read, wanted, settings);
  const octavia: OctaviaSpec = {
    name: wanted.key,
    listeners: wanted.ports.map((port) => toListener(read, wanted, port)),
    tags: [...toTags(ownershipTagsOf(wanted.cluster, wanted.service)), ...userTags(wanted.tags)],
    creation: creationFields(read, wanted, settings, floating === undefined),
    isOfSettings: creationKeys.every((key) => read.string(key) === undefined) && wanted.requestedIps.length === 0,
    floating,
    memberSubnetId: memberSubnetOf(wanted.annotations, settings),
  };
  read.throwIfInvalid();
  return octavia;
}

/** Also for a change of nodes alone, which brings no spec. */
export function memberSubnetOf(
  annotations: Readonly<Record<string, string>>,
  { memberSubnetId }: Pick<LoadBalancerSettings, "memberSubnetId">,
): string | undefined {
  return readAnnotations(annotations).string("member-subnet-id") ?? memberSubnetId;
}

/** Ports on the nodes that a pool uses. */
export type PoolPorts = Pick<DesiredPool, "nodePort" | "monitorPort">;

function poolName(listenerName: string, protocol: string, { nodePort, monitorPort }: PoolPorts): string {
  const health = monitorPort === undefined ? "" : `-health-${monitorPort}`;
  return `${listenerName}-${protocol.toLowerCase()}-to-${nodePort}${health}`;
}

/** The ports in a pool's name; undefined: the pool is not the provider's. */
export function portsIn(name: string): PoolPorts | undefined {
  const [, nodePort, monitorPort] = /-to-(\d+)(?:-health-(\d+))?$/.exec(name) ?? [];
  if (nodePort === undefined) return undefined;
  return { nodePort: Number(nodePort), monitorPort: monitorPort === undefined ? undefined : Number(monitorPort) };
}

/** Nodes as targets of a pool; those without an address are left out. */
export function membersOf(
  nodes: readonly TargetNode[],
  { nodePort, monitorPort }: PoolPorts,
  memberSubnetId: string | undefined,
): readonly DesiredMember[] {
  return nodes.flatMap(({ name, ip }) =>
    ip === undefined ? [] : [{ name, address: ip, port: nodePort, subnetId: memberSubnetId, monitorPort }],
  );
}

function floatingIpSpec(
  read: Annotations,
  { annotations, requestedIps }: DesiredLoadBalancer,
  { floatingNetworkId }: LoadBalancerSettings,
): FloatingIpSpec | undefined {
  const networkId = read.string("floating-network-id") ?? floatingNetworkId;
  if (isInternal(annotations) || networkId === undefined) return undefined;
  return { networkId, subnetId: read.string("floating-subnet-id"), address: requestedIps[0] };
}

function creationFields(
  read: Annotations,
  { requestedIps, service }: DesiredLoadBalancer,
  { vipSubnetId, octaviaProvider }: LoadBalancerSettings,
  hasOwnAddressOnly: boolean,
): Readonly<Record<string, string>> {
  const [address] = hasOwnAddressOnly ? requestedIps : [];
  const [flavor, zone] = [read.string("flavor-id"), read.string("availability-zone")];
  return {
    description: `Service ${service.namespace}/${service.name}`,
    ...vipFields(read, vipSubnetId),
    ...(address === undefined ? {} : { vip_address: address }),
    ...(octaviaProvider === undefined ? {} : { provider: octaviaProvider }),
    ...(flavor === undefined ? {} : { flavor_id: flavor }),
    ...(zone === undefined ? {} : { availability_zone: zone }),
  };
}

/** The annotations for these fields. */
const creationKeys = ["port-id", "subnet-id", "network-id", "flavor-id", "availability-zone"] as const;

/** The most specific setting applies. */
function vipFields(read: Annotations, subnetId: string): Readonly<Record<string, string>> {
  const port = read.string("port-id");
  if (port !== undefined) return { vip_port_id: port };
  const [subnet, network] = [read.string("subnet-id"), read.string("network-id")];
  if (subnet !== undefined) return { vip_subnet_id: subnet };
  return network === undefined ? { vip_subnet_id: subnetId } : { vip_network_id: network };
}

const dayMs = 86_400_000;

function toListener(read: Annotations, wanted: DesiredLoadBalancer, port: ServicePort): DesiredListener {
  const isTcp = port.protocol === "TCP";
  const forwardedFor = isTcp && read.flag("x-forwarded-for", false);
  const protocol = forwardedFor ? "HTTP" : isTcp ? "TCP" : "UDP";
  const name = `${wanted.key}-${protocol.toLowerCase()}-${port.port}`;
  const times = {
    timeout_client_data: read.number("timeout-client-data", 0, dayMs, 50_000),
    timeout_member_connect: read.number("timeout-member-connect", 0, dayMs, 5_000),
    timeout_member_data: read.number("timeout-member-data", 0, dayMs, 50_000),
    timeout_tcp_inspect: read.number("timeout-tcp-inspect", 0, dayMs, 0),
  };
  const limit = { connection_limit: read.number("connection-limit", -1, 2_147_483_647, -1) };
  return {
    name,
    protocol,
    port: port.port,
    options: isTcp ? { ...limit, ...times } : limit,
    allowedCidrs: canonicalRanges(wanted.sourceRanges),
    forwardedFor,
    pool: toPool(read, wanted, port, name, forwardedFor),
  };
}

function toPool(
  read: Annotations,
  { healthCheck, sessionAffinity }: DesiredLoadBalancer,
  { port, nodePort = port, protocol }: ServicePort,
  listenerName: string,
  forwardedFor: boolean,
): DesiredPool {
  const isTcp = protocol === "TCP";
  const ofPool = isTcp ? tcpPoolProtocol(read, forwardedFor) : "UDP";
  // Octavia keeps a time for datagrams alone.
  const timeoutSeconds = isTcp || !sessionAffinity ? undefined : Math.ceil(sessionAffinity.timeoutMs / 1000);
  const monitor = toMonitor(read, healthCheck, isTcp);
  const monitorPort = monitor ? healthCheck?.port : undefined;
  return {
    name: poolName(listenerName, ofPool, { nodePort, monitorPort }),
    protocol: ofPool,
    nodePort,
    monitorPort,
    affinity: sessionAffinity ? { timeoutSeconds } : undefined,
    monitor,
  };
}

function tcpPoolProtocol(read: Annotations, forwardedFor: boolean): DesiredPool["protocol"] {
  const proxy = read.string("proxy-protocol") ?? "false";
  if (proxy !== "false" && forwardedFor) read.addViolation("proxy-protocol", "cannot be combined with x-forwarded-for");
  if (forwardedFor) return "HTTP";
  if (proxy === "v2") return "PROXYV2";
  return proxy === "false" ? "TCP" : "PROXY";
}

function toMonitor(
  read: Annotations,
  healthCheck: HealthCheck | undefined,
  isTcp: boolean,
): DesiredMonitor | undefined {
  if (!read.flag("enable-health-monitor", true)) return undefined;
  const delaySeconds = read.number("health-monitor-delay", 1, 3600, 5);
  const timeoutSeconds = read.number("health-monitor-timeout", 1, 3600, 3);
  if (timeoutSeconds >= delaySeconds && isTcp) {
    read.addViolation("health-monitor-timeout", `must be less than the delay, ${delaySeconds} s`);
  }
  const times = {
    delaySeconds,
    timeoutSeconds,
    maxRetries: read.number("health-monitor-max-retries", 1, 10, 1),
    maxRetriesDown: read.number("health-monitor-max-retries-down", 1, 10, 3),
  };
  if (healthCheck?.path !== undefined) return { type: "HTTP", path: healthCheck.path, ...times };
  // A separate health-check port is checked by TCP connection for every protocol.
  return { type: isTcp || healthCheck ? "TCP" : "UDP-CONNECT", ...times };
}
