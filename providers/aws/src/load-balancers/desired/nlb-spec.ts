import { ProviderError, type ServicePort, type DesiredLoadBalancer } from "@cloudwire/provider-sdk";
import { ownershipTags, type Tags, userTags } from "../../cloud/ownership.ts";
import { type Annotations, readAnnotations } from "../annotations.ts";
import { type HealthProbe, readHealthProbe } from "./health-probe.ts";
import { groupName } from "../names.ts";

export type ListenerProtocol = "TCP" | "UDP" | "TCP_UDP" | "TLS";

/** Of NLBs; TLS listeners have a fixed one. */
export const defaultIdleTimeoutSeconds = 350;

/** A desired target group. */
export interface DesiredTargetGroup {
  readonly name: string;
  readonly protocol: ListenerProtocol;
  /** Port on the nodes. */
  readonly port: number;
  /** Of the addresses of machines that traffic goes to. */
  readonly ipFamily: "ipv4" | "ipv6";
  readonly probe: HealthProbe;
  readonly attributes: Readonly<Record<string, string>>;
}

/** A desired listener and its target. */
export interface DesiredListener {
  readonly port: number;
  readonly protocol: ListenerProtocol;
  /** Present: it speaks TLS. */
  readonly tls?: { readonly certificateArn: string; readonly policy: string } | undefined;
  /** Of TCP listeners. */
  readonly idleTimeoutSeconds?: number | undefined;
  readonly group: DesiredTargetGroup;
}

/** The desired load balancer, in AWS' terms. */
export interface NlbSpec {
  readonly name: string;
  readonly isInternal: boolean;
  /** Of its own addresses. AWS has no IPv6-only load balancers. */
  readonly addressType: "ipv4" | "dualstack";
  readonly listeners: readonly DesiredListener[];
  /** Of the load balancer itself; those that are not named stay as they are. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly sourceRanges: readonly string[];
  /** Instead of the security group that the provider makes. */
  readonly securityGroups: readonly string[];
  readonly extraSecurityGroups: readonly string[];
  /** Ids or names; none: they are discovered. */
  readonly subnets: readonly string[];
  readonly allocationIds: readonly string[];
  readonly privateAddresses: readonly string[];
  /** For everything that is made. */
  readonly tags: Tags;
}

const everybody = { ipv4: ["0.0.0.0/0"], dualstack: ["0.0.0.0/0", "::/0"] } as const;

/** @throws ProviderError for unsupported annotations and combinations of ports */
export function toNlbSpec(wanted: DesiredLoadBalancer): NlbSpec {
  const read = readAnnotations(wanted.annotations);
  refuseForeign(read);
  const shared = {
    attributes: groupAttributes(read),
    idleTimeoutSeconds: read.number("connection-idle-timeout", 60, 6000, defaultIdleTimeoutSeconds),
    ipFamily: wanted.ipFamilies.includes("IPv4") ? "ipv4" : "ipv6",
  } as const;
  const securityGroups = read.list("security-groups");
  const addressType = addressTypeOf(read, wanted);
  const nlb: NlbSpec = {
    name: wanted.key,
    isInternal: read.flag("internal", false),
    addressType,
    listeners: mergePorts(wanted.ports).map((port) => listenerOf(port, wanted, read, shared)),
    attributes: balancerAttributes(read, wanted.deletionProtection),
    sourceRanges: wanted.sourceRanges.length === 0 ? everybody[addressType] : wanted.sourceRanges,
    securityGroups,
    extraSecurityGroups: read.list("extra-security-groups"),
    subnets: read.list("subnets"),
    allocationIds: read.list("eip-allocations"),
    privateAddresses: read.list("private-ipv4-addresses"),
    tags: {
      ...userTags({ ...wanted.tags, ...read.map("additional-resource-tags") }),
      ...ownershipTags(wanted.cluster, wanted.service),
    },
  };
  checkStaticAddresses(read, nlb);
  read.throwIfInvalid();
  refuseUnsupported(read, nlb);
  if (securityGroups.length > 0 && wanted.sourceRanges.length > 0) {
    const message =
      "source ranges need the provider's own security group: remove the annotation for security groups or the ranges";
    throw new ProviderError("FEATURE_UNSUPPORTED", message, { field: "spec.source_ranges" });
  }
  return nlb;
}

/** Settings that all listeners of a load balancer share. */
interface SharedByListeners {
  readonly attributes: Readonly<Record<string, string>>;
  readonly idleTimeoutSeconds: number;
  readonly ipFamily: "ipv4" | "ipv6";
}

function listenerOf(
  port: MergedPort,
  wanted: DesiredLoadBalancer,
  read: Annotations,
  { attributes, idleTimeoutSeconds, ipFamily }: SharedByListeners,
): DesiredListener {
  const tls = tlsOf(read, port);
  const protocol = tls ? "TLS" : port.protocol;
  const isTlsBehind = tls && ["ssl", "https"].includes(read.string("backend-protocol") ?? "");
  const groupProtocol: ListenerProtocol = isTlsBehind ? "TLS" : port.protocol;
  const probe = readHealthProbe(read, wanted, port.protocol);
  const group = { protocol: groupProtocol, ipFamily, probe, attributes };
  const name = groupName(wanted.key, {
    listenerPort: port.port,
    protocol: groupProtocol,
    nodePort: port.nodePort,
    healthCheckProtocol: probe.protocol,
    healthCheckIntervalSeconds: probe.intervalSeconds,
    ipFamily,
  });
  return {
    port: port.port,
    protocol,
    tls,
    ...(protocol === "TCP" ? { idleTimeoutSeconds } : {}),
    group: { ...group, name, port: port.nodePort },
  };
}

function refuseForeign(read: Annotations): void {
  const type = read.string("type");
  if (type === undefined || type === "nlb") return;
  throw new ProviderError("NOT_RESPONSIBLE", `the AWS Load Balancer Controller manages load balancers of type ${type}`);
}

/** By families of the Service, unless its annotation says otherwise. */
function addressTypeOf(read: Annotations, { ipFamilies }: DesiredLoadBalancer): NlbSpec["addressType"] {
  const isIpv4 = read.string("ip-address-type") === "ipv4";
  if (isIpv4 && !ipFamilies.includes("IPv4"))
    read.addViolation("ip-address-type", "must be dualstack for a Service with only IPv6");
  if (isIpv4) return "ipv4";
  return read.string("ip-address-type") === "dualstack" || ipFamilies.includes("IPv6") ? "dualstack" : "ipv4";
}

/** What AWS has, and this provider has not. */
function refuseUnsupported(read: Annotations, { addressType, listeners }: NlbSpec): void {
  if (read.string("nlb-target-type") === "ip") {
    const message =
      "targets are node ports: for pod addresses, use the AWS Load Balancer Controller with the annotation for the type, external";
    const field = 'spec.annotations["service.beta.kubernetes.io/aws-load-balancer-nlb-target-type"]';
    throw new ProviderError("FEATURE_UNSUPPORTED", message, { field });
  }
  const udp = listeners.find(({ protocol }) => protocol === "UDP" || protocol === "TCP_UDP");
  if (addressType === "dualstack" && udp !== undefined) {
    const message = `a dualstack load balancer translates client addresses of UDP port ${udp.port}: request a single family, or set the annotation for the ip-address-type to ipv4`;
    throw new ProviderError("FEATURE_UNSUPPORTED", message, { field: "spec.ip_families" });
  }
}

interface MergedPort {
  readonly port: number;
  readonly nodePort: number;
  readonly protocol: Exclude<ListenerProtocol, "TLS">;
  readonly name: string | undefined;
}

/** AWS has one listener a port: TCP and UDP on the same one are a listener for both, which knows one port of the nodes. */
function mergePorts(ports: readonly ServicePort[]): readonly MergedPort[] {
  const merged = new Map<number, MergedPort>();
  for (const [index, { port, nodePort = port, protocol, name }] of ports.entries()) {
    const other = merged.get(port);
    if (other && other.nodePort !== nodePort) {
      const message = `port ${port} is requested for TCP and UDP with the node ports ${other.nodePort} and ${nodePort}: use the same node port, or different ports`;
      throw new ProviderError("FEATURE_UNSUPPORTED", message, { field: `spec.ports[${index}].port` });
    }
    merged.set(port, { port, nodePort, name, protocol: other ? "TCP_UDP" : protocolOf(protocol) });
  }
  return [...merged.values()].toSorted((left, right) => left.port - right.port);
}

function protocolOf(protocol: ServicePort["protocol"]): "TCP" | "UDP" {
  return protocol === "UDP" ? "UDP" : "TCP";
}

function tlsOf(read: Annotations, { port, name, protocol }: MergedPort): DesiredListener["tls"] {
  const certificateArn = read.string("ssl-cert");
  if (certificateArn === undefined || protocol !== "TCP") return undefined;
  const ports = read.list("ssl-ports");
  const isChosen =
    ports.length === 0 || ["*", String(port), name].some((word) => word !== undefined && ports.includes(word));
  const policy = read.string("ssl-negotiation-policy") ?? "ELBSecurityPolicy-TLS13-1-2-2021-06";
  return isChosen ? { certificateArn, policy } : undefined;
}

function groupAttributes(read: Annotations): Readonly<Record<string, string>> {
  const drains = read.flag("connection-draining-enabled", true);
  const drainSeconds = read.number("connection-draining-timeout", 0, 3600, 300);
  const own = {
    "deregistration_delay.timeout_seconds": String(drains ? drainSeconds : 0),
    "preserve_client_ip.enabled": "true",
    "proxy_protocol_v2.enabled": String(read.string("proxy-protocol") !== undefined),
  };
  const asked = read.map("target-group-attributes");
  for (const [key, value] of Object.entries(asked)) {
    const isKnown = key === "preserve_client_ip.enabled" || key === "proxy_protocol_v2.enabled";
    if (!isKnown) read.addViolation("target-group-attributes", `does not support ${key}`);
    else if (value !== "true" && value !== "false")
      read.addViolation("target-group-attributes", `${key} must be true or false`);
  }
  return { ...own, ...asked };
}

function balancerAttributes(
  read: Annotations,
  deletionProtection: boolean | undefined,
): Readonly<Record<string, string>> {
  const logs = read.flag("access-log-enabled", false);
  const bucket = read.string("access-log-s3-bucket-name");
  if (logs && bucket === undefined) read.addViolation("access-log-s3-bucket-name", "must name a bucket");
  return {
    "load_balancing.cross_zone.enabled": String(read.flag("cross-zone-load-balancing-enabled", false)),
    "access_logs.s3.enabled": String(logs),
    // AWS rejects an empty bucket, so it is not changed if the log is disabled.
    ...(logs
      ? {
          "access_logs.s3.bucket": bucket ?? "",
          "access_logs.s3.prefix": read.string("access-log-s3-bucket-prefix") ?? "",
        }
      : {}),
    ...(deletionProtection === undefined ? {} : { "deletion_protection.enabled": String(deletionProtection) }),
  };
}

function checkStaticAddresses(read: Annotations, { isInternal, allocationIds, privateAddresses }: NlbSpec): void {
  if (allocationIds.length > 0 && isInternal)
    read.addViolation("eip-allocations", "requires a load balancer that is not internal");
  if (privateAddresses.length > 0 && !isInternal)
    read.addViolation("private-ipv4-addresses", "requires an internal load balancer");
}
