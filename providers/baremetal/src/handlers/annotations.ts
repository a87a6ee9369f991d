import { type AnnotationSchema, ProviderError, type ServicePort } from "@cloudwire/provider-sdk";
import type { LoadBalancerRecord } from "../state/state.ts";

/** Domain of the provider: of its name, its annotations and its load balancer classes. */
export const domain = "baremetal.cloudwire.dev";

const forwarderKey = `${domain}/forwarder`;
const poolKey = `${domain}/address-pool`;
const clientAddressKey = `${domain}/client-address`;
const proxyProtocolKey = `${domain}/proxy-protocol`;

export type Forwarder = LoadBalancerRecord["forwarder"];
const forwarders: readonly Forwarder[] = ["haproxy", "nftables"];

/** spec.loadBalancerClass values, one a forwarder. */
export const classes: readonly string[] = forwarders.map((forwarder) => `${domain}/${forwarder}`);

export const annotationSchemas: readonly AnnotationSchema[] = [
  {
    key: forwarderKey,
    type: "enum",
    allowedValues: forwarders,
    description:
      "Forwarder: haproxy (TCP, with health checks and retries on another node) or nftables (TCP and UDP, packet forwarding). Default: nftables with a UDP port or externalTrafficPolicy Local, else haproxy.",
    mutable: true,
  },
  {
    key: poolKey,
    type: "string",
    description:
      "Name of the address pool to take the address from. Default: the first with a free address. If the annotation is removed, the Service keeps its address.",
    mutable: true,
  },
  {
    key: clientAddressKey,
    type: "enum",
    allowedValues: ["keep", "hide"],
    defaultValue: "keep",
    description:
      "With nftables: keep the client's address, which requires that responses return through this machine, or hide it behind this machine's.",
    mutable: true,
  },
  {
    key: proxyProtocolKey,
    type: "bool",
    defaultValue: "false",
    description:
      "With haproxy: whether to send a PROXY protocol version 2 header, which contains the client's address.",
    mutable: true,
  },
];

/** What class and annotations say. */
export interface AnnotationSettings {
  readonly forwarder: Forwarder;
  readonly pool: string | undefined;
  readonly hidesClients: boolean;
  readonly sendsProxyHeader: boolean;
}

type Annotations = Readonly<Record<string, string>>;

/** Reads class and annotations, which the SDK has validated. @throws ProviderError for conflicting values */
export function readAnnotations(
  loadBalancerClass: string | undefined,
  annotations: Annotations,
  ports: readonly Pick<ServicePort, "protocol">[],
  externalTrafficPolicy: "Cluster" | "Local",
): AnnotationSettings {
  const needsPackets = externalTrafficPolicy === "Local" || ports.some(({ protocol }) => protocol === "UDP");
  const named = loadBalancerClass?.slice(`${domain}/`.length) ?? annotations[forwarderKey];
  const forwarder = forwarders.find((each) => each === named) ?? (needsPackets ? "nftables" : "haproxy");
  const udp = ports.findIndex(({ protocol }) => protocol !== "TCP");
  if (forwarder === "haproxy" && udp !== -1) {
    const message = `HAProxy does not forward ${ports[udp]?.protocol}: remove the class and annotation ${forwarderKey}, or use nftables`;
    throw new ProviderError("PORT_PROTOCOL_UNSUPPORTED", message, { field: `spec.ports[${udp}].protocol` });
  }
  return {
    forwarder,
    pool: annotations[poolKey],
    hidesClients: annotations[clientAddressKey] === "hide",
    sendsProxyHeader: annotations[proxyProtocolKey] === "true",
  };
}

export function poolInvalid(problem: string): ProviderError {
  const field = `spec.annotations[${JSON.stringify(poolKey)}]`;
  return new ProviderError("ANNOTATION_INVALID", `annotation ${poolKey} ${problem}`, { field });
}
