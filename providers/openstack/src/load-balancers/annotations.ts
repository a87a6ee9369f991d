import { AnnotationReader, type AnnotationSchema } from "@cloudwire/provider-sdk";

const prefix = "loadbalancer.openstack.org/";
const internalKey = "service.beta.kubernetes.io/openstack-internal-load-balancer";

type Declared = Omit<AnnotationSchema, "key">;

/** The annotations of OpenStack's own controller that mean the same here, by what follows their common prefix. */
const declared = {
  "floating-network-id": {
    type: "string",
    description: "Network of the floating IP, instead of --floating-network.",
  },
  "floating-subnet-id": { type: "string", description: "Subnet of the floating IP in that network." },
  "keep-floatingip": {
    type: "bool",
    defaultValue: "false",
    mutable: true,
    description: "Whether the floating IP stays in the project when the Service is deleted.",
  },
  "subnet-id": {
    type: "string",
    description: "Subnet of the load balancer's own address, instead of --load-balancer-subnet.",
  },
  "network-id": {
    type: "string",
    description: "Network of the load balancer's own address, in any of its subnets.",
  },
  "port-id": {
    type: "string",
    description: "Port whose address the load balancer uses. The port is not deleted with it.",
  },
  "member-subnet-id": {
    type: "string",
    mutable: true,
    description: "Subnet of the nodes, instead of --member-subnet.",
  },
  "flavor-id": { type: "string", description: "Octavia's flavor of the load balancer." },
  "availability-zone": { type: "string", description: "Octavia's availability zone of the load balancer." },
  "connection-limit": {
    type: "integer",
    defaultValue: "-1",
    mutable: true,
    description: "Maximum concurrent connections of each port; -1 for no limit.",
  },
  "proxy-protocol": {
    type: "enum",
    allowedValues: ["true", "false", "v1", "v2"],
    defaultValue: "false",
    mutable: true,
    description: "Sends a PROXY protocol header to nodes, version 1 with true and v1. TCP only.",
  },
  "x-forwarded-for": {
    type: "bool",
    defaultValue: "false",
    mutable: true,
    description: "TCP ports use HTTP, and requests get the header X-Forwarded-For.",
  },
  "timeout-client-data": {
    type: "integer",
    defaultValue: "50000",
    mutable: true,
    description: "Idle timeout of client connections in milliseconds. TCP only, like the other timeouts.",
  },
  "timeout-member-connect": {
    type: "integer",
    defaultValue: "5000",
    mutable: true,
    description: "Connect timeout to nodes in milliseconds.",
  },
  "timeout-member-data": {
    type: "integer",
    defaultValue: "50000",
    mutable: true,
    description: "Idle timeout of connections to nodes in milliseconds.",
  },
  "timeout-tcp-inspect": {
    type: "integer",
    defaultValue: "0",
    mutable: true,
    description: "Milliseconds to wait for more TCP packets to inspect.",
  },
  "enable-health-monitor": {
    type: "bool",
    defaultValue: "true",
    mutable: true,
    description: "Whether the load balancer checks the health of nodes.",
  },
  "health-monitor-delay": {
    type: "integer",
    defaultValue: "5",
    mutable: true,
    description: "Seconds between two health checks.",
  },
  "health-monitor-timeout": {
    type: "integer",
    defaultValue: "3",
    mutable: true,
    description: "Timeout of a health check in seconds; less than the delay.",
  },
  "health-monitor-max-retries": {
    type: "integer",
    defaultValue: "1",
    mutable: true,
    description: "Consecutive successful health checks of a healthy node, 1 to 10.",
  },
  "health-monitor-max-retries-down": {
    type: "integer",
    defaultValue: "3",
    mutable: true,
    description: "Consecutive failed health checks of an unhealthy node, 1 to 10.",
  },
} as const satisfies Readonly<Record<string, Declared>>;

/** The supported annotations, for the handshake and the documentation. */
export const annotationSchemas: readonly AnnotationSchema[] = [
  {
    key: internalKey,
    type: "bool",
    defaultValue: "false",
    mutable: true,
    description: "Whether the load balancer has no floating IP.",
  },
  ...Object.entries(declared).map(([name, schema]) => ({ key: prefix + name, ...schema })),
];

/** Typed access to a Service's annotations. */
export type Annotations = AnnotationReader<keyof typeof declared>;

export function readAnnotations(annotations: Readonly<Record<string, string>>): Annotations {
  return new AnnotationReader(annotations, { prefix, refused });
}

/** Whether the load balancer is to have no floating IP. */
export function isInternal(annotations: Readonly<Record<string, string>>): boolean {
  return annotations[internalKey]?.trim() === "true";
}

/** To leave these out would make another load balancer than the user asked for. */
const refused: Readonly<Record<string, string>> = {
  class: "classes are not supported: set networks and subnets with their annotations",
  "default-tls-container-ref": "the load balancer does not terminate TLS: terminate it in the pods",
  "load-balancer-id": "each Service has its own load balancer",
};
