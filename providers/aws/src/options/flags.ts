import type { ProgramOptions } from "@cloudwire/provider-sdk/program";

export const flags = {
  endpoint: {
    valueName: "unix:///path.sock",
    env: "CLOUD_PROVIDER_ENDPOINT",
    help: "Socket to serve the contract on. Required.",
  },
  region: { valueName: "region", env: "AWS_REGION", help: "Region of the cluster. Required." },
  "vpc-id": { valueName: "vpc-…", env: "CLOUDWIRE_AWS_VPC_ID", help: "VPC of the cluster. Required." },
  "node-name": {
    valueName: "source",
    env: "CLOUDWIRE_AWS_NODE_NAME",
    help: "Source of the names of Nodes without a provider ID: private-dns-name, or tag:Key for the value of a tag. Names that begin with an instance ID always work. Default private-dns-name.",
  },
  "node-ip-family": {
    valueName: "IPv4|IPv6",
    env: "CLOUDWIRE_AWS_NODE_IP_FAMILY",
    repeated: true,
    help: "IP families of Node addresses, the preferred one first. Default IPv4.",
  },
  "node-security-group": {
    valueName: "sg-…",
    env: "CLOUDWIRE_AWS_NODE_SECURITY_GROUP",
    repeated: true,
    help: "Security group of nodes. The provider adds a rule for each load balancer's own group. Default: none; see --load-balancer-security-group.",
  },
  "load-balancer-security-group": {
    valueName: "sg-…",
    env: "CLOUDWIRE_AWS_LOAD_BALANCER_SECURITY_GROUP",
    repeated: true,
    help: "Additional security group of each load balancer, which you allow in a rule of the nodes. Default: none.",
  },
  "route-table": {
    valueName: "rtb-…",
    env: "CLOUDWIRE_AWS_ROUTE_TABLE",
    help: "Route table of the nodes' subnets, used only by this cluster. Enables routes to pod CIDRs. Default: none, routes are disabled.",
  },
  "pod-cidr": {
    valueName: "range",
    env: "CLOUDWIRE_AWS_POD_CIDR",
    repeated: true,
    help: "The cluster's pod CIDRs, as in --cluster-cidr of the controller. The table's routes within them belong to the cluster. Required with --route-table.",
  },
  "route-quota": {
    valueName: "count",
    env: "CLOUDWIRE_AWS_ROUTE_QUOTA",
    help: "Maximum number of routes in the table, a quota of the account. Default 50.",
  },
  "ec2-call-rate": {
    valueName: "rate:burst",
    env: "CLOUDWIRE_AWS_EC2_CALL_RATE",
    help: "Requests per second to EC2 that this cluster may send, and the burst. The controller enforces it. Default 10:50.",
  },
  "elb-call-rate": {
    valueName: "rate:burst",
    env: "CLOUDWIRE_AWS_ELB_CALL_RATE",
    help: "The same for Elastic Load Balancing. Default 5:30.",
  },
  "watch-interval": {
    valueName: "seconds",
    env: "CLOUDWIRE_AWS_WATCH_INTERVAL",
    help: "Interval between two lists of all instances for a watch, 10 to 3600. Default 60.",
  },
} as const satisfies ProgramOptions;

export type FlagName = keyof typeof flags;

/** Name of the program. */
export const program = "cloudwire-provider-aws";

/** What `--help` says of it. */
export const about =
  "Serves the contract cloudprovider.v1 for Amazon Web Services. Credentials and endpoints come from the default sources of the AWS SDK.";
