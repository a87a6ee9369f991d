import { AnnotationReader, type AnnotationSchema } from "@cloudwire/provider-sdk";

const prefix = "service.beta.kubernetes.io/aws-load-balancer-";

/** Domain of the provider: of its name and its load balancer class. */
export const domain = "aws.cloudwire.dev";

type Declared = Omit<AnnotationSchema, "key">;

/** The annotations of AWS' own controller that mean the same here, by what follows their common prefix. */
const declared = {
  type: {
    type: "enum",
    allowedValues: ["nlb", "nlb-ip", "external"],
    defaultValue: "nlb",
    mutable: true,
    description:
      "Every load balancer is a network load balancer. With nlb-ip and external, the AWS Load Balancer Controller serves the Service.",
  },
  internal: {
    type: "bool",
    defaultValue: "false",
    description: "Whether the load balancer has only addresses of the VPC.",
  },
  subnets: {
    type: "stringList",
    mutable: true,
    description: "IDs or Name tags of the subnets, at most one per zone. Default: discovered by their role tag.",
  },
  "ip-address-type": {
    type: "enum",
    allowedValues: ["ipv4", "dualstack"],
    mutable: true,
    description:
      "IPv4, or IPv4 and IPv6 addresses for clients. Default: as spec.ipFamilies. dualstack requires IPv6 CIDRs of the subnets.",
  },
  "nlb-target-type": {
    type: "enum",
    allowedValues: ["instance", "ip"],
    defaultValue: "instance",
    mutable: true,
    description:
      "Targets are node ports. The value ip (pod addresses) is rejected: use the AWS Load Balancer Controller.",
  },
  "eip-allocations": {
    type: "stringList",
    mutable: true,
    description:
      "Allocation IDs of Elastic IPs, one for each subnet in the order of the subnets' zones; not with internal. A change applies only to added subnets.",
  },
  "private-ipv4-addresses": {
    type: "stringList",
    mutable: true,
    description:
      "Addresses within the subnets, one for each subnet in the order of the subnets' zones; only with internal. A change applies only to added subnets.",
  },
  "security-groups": {
    type: "stringList",
    mutable: true,
    description:
      "Security groups that replace the provider's. You manage their rules, and spec.loadBalancerSourceRanges is rejected.",
  },
  "extra-security-groups": {
    type: "stringList",
    mutable: true,
    description: "Security groups in addition to the provider's.",
  },
  "proxy-protocol": {
    type: "enum",
    allowedValues: ["*"],
    mutable: true,
    description: "Sends a PROXY protocol version 2 header to targets.",
  },
  "cross-zone-load-balancing-enabled": {
    type: "bool",
    defaultValue: "false",
    mutable: true,
    description: "Whether each zone sends traffic to targets in all zones.",
  },
  "connection-idle-timeout": {
    type: "integer",
    defaultValue: "350",
    mutable: true,
    description: "Idle timeout of connections of TCP listeners in seconds, 60 to 6000.",
  },
  "connection-draining-enabled": {
    type: "bool",
    defaultValue: "true",
    mutable: true,
    description: "Whether a removed target keeps its connections for a while.",
  },
  "connection-draining-timeout": {
    type: "integer",
    defaultValue: "300",
    mutable: true,
    description: "Seconds that a removed target keeps its connections, 0 to 3600.",
  },
  "target-group-attributes": {
    type: "map",
    mutable: true,
    description: "preserve_client_ip.enabled and proxy_protocol_v2.enabled, as true or false.",
  },
  "additional-resource-tags": {
    type: "stringList",
    mutable: true,
    description: "Tags for all created resources, such as team=blue,billing=42.",
  },
  "healthcheck-protocol": {
    type: "enum",
    allowedValues: ["TCP", "HTTP", "HTTPS", "tcp", "http", "https"],
    mutable: true,
    description:
      "Protocol of health checks. Default: the health check of Kubernetes, or else TCP on the traffic port, and for UDP HTTP on kube-proxy's port 10256.",
  },
  "healthcheck-port": {
    type: "string",
    mutable: true,
    description: "Port of health checks on the node, or traffic-port.",
  },
  "healthcheck-path": {
    type: "string",
    mutable: true,
    description: "Path of HTTP and HTTPS health checks.",
  },
  "healthcheck-interval": {
    type: "integer",
    defaultValue: "10",
    mutable: true,
    description: "Seconds between two health checks, 5 to 300.",
  },
  "healthcheck-timeout": {
    type: "integer",
    defaultValue: "6",
    mutable: true,
    description: "Seconds that a health check may take, 2 to 120.",
  },
  "healthcheck-healthy-threshold": {
    type: "integer",
    defaultValue: "2",
    mutable: true,
    description: "Consecutive successful health checks of a healthy target, 2 to 10.",
  },
  "healthcheck-unhealthy-threshold": {
    type: "integer",
    defaultValue: "2",
    mutable: true,
    description: "Consecutive failed health checks of an unhealthy target, 2 to 10.",
  },
  "ssl-cert": {
    type: "string",
    mutable: true,
    description: "ARN of a certificate. The ports in ssl-ports become TLS listeners.",
  },
  "ssl-ports": {
    type: "stringList",
    defaultValue: "*",
    mutable: true,
    description: "Numbers or names of TLS ports, with ssl-cert.",
  },
  "ssl-negotiation-policy": {
    type: "string",
    defaultValue: "ELBSecurityPolicy-TLS13-1-2-2021-06",
    mutable: true,
    description: "Security policy of TLS listeners.",
  },
  "backend-protocol": {
    type: "enum",
    allowedValues: ["tcp", "http", "ssl", "https"],
    defaultValue: "tcp",
    mutable: true,
    description: "With ssl and https, TLS listeners also use TLS to the targets.",
  },
  "access-log-enabled": {
    type: "bool",
    defaultValue: "false",
    mutable: true,
    description: "Whether TLS listeners log to the bucket.",
  },
  "access-log-s3-bucket-name": { type: "string", mutable: true, description: "Bucket of the access log." },
  "access-log-s3-bucket-prefix": { type: "string", mutable: true, description: "Prefix in the bucket." },
} as const satisfies Readonly<Record<string, Declared>>;

/** The supported annotations, for the handshake and the documentation. */
export const annotationSchemas: readonly AnnotationSchema[] = Object.entries(declared).map(([name, schema]) => ({
  key: prefix + name,
  ...schema,
}));

/** Typed access to a Service's annotations. */
export type Annotations = AnnotationReader<keyof typeof declared>;

export function readAnnotations(annotations: Readonly<Record<string, string>>): Annotations {
  return new AnnotationReader(annotations, { prefix, refused });
}

/** To leave it out would send traffic where it is not wanted. */
const refused = {
  "target-node-labels":
    "targets are the nodes that Kubernetes chooses; take it away, or label nodes with node.kubernetes.io/exclude-from-external-load-balancers",
} as const;
