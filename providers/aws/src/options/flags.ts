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
    help: "What Nodes without provider ID are called: private-dns-name, or tag:Key for the value of a tag. Default private-dns-name; names that begin with an instance id are understood, too.",
  },
  "node-ip-family": {
    valueName: "IPv4|IPv6",
    env: "CLOUDWIRE_AWS_NODE_IP_FAMILY",
    repeated: true,
    help: "Families of the addresses that Nodes get, the preferred one first. Default IPv4.",
  },
  "node-security-group": {
    valueName: "sg-…",
    env: "CLOUDWIRE_AWS_NODE_SECURITY_GROUP",
    repeated: true,
    help: "Security group of nodes, which then lets in each load balancer's own group: one rule for each load balancer. Default: none; see --load-balancer-security-group.",
  },
  "load-balancer-security-group": {
    valueName: "sg-…",
    env: "CLOUDWIRE_AWS_LOAD_BALANCER_SECURITY_GROUP",
    repeated: true,
    help: "Security group that each load balancer has beside its own, for nodes to let in by a rule of yours. Default: none.",
  },
  "route-table": {
    valueName: "rtb-…",
    env: "CLOUDWIRE_AWS_ROUTE_TABLE",
    help: "Route table of the nodes' subnets, for this cluster alone: the provider serves routes to pod CIDRs. Default: none, something else takes care of them.",
  },
  "pod-cidr": {
    valueName: "range",
    env: "CLOUDWIRE_AWS_POD_CIDR",
    repeated: true,
    help: "The cluster's pod CIDRs, as in --cluster-cidr of the controller: within them the table's routes are the cluster's. Required with --route-table.",
  },
  "route-quota": {
    valueName: "count",
    env: "CLOUDWIRE_AWS_ROUTE_QUOTA",
    help: "Routes that the table takes, a quota of the account. Default 50.",
  },
  "ec2-call-rate": {
    valueName: "rate:burst",
    env: "CLOUDWIRE_AWS_EC2_CALL_RATE",
    help: "Requests to EC2 a second that the account's limits leave to this cluster, and how many at once; the controller keeps to it. Default 10:50.",
  },
  "elb-call-rate": {
    valueName: "rate:burst",
    env: "CLOUDWIRE_AWS_ELB_CALL_RATE",
    help: "The same for Elastic Load Balancing. Default 5:30.",
  },
  "watch-interval": {
    valueName: "seconds",
    env: "CLOUDWIRE_AWS_WATCH_INTERVAL",
    help: "Between two lists of all machines that a watch is made of, 10 to 3600. Default 60.",
  },
} as const satisfies ProgramOptions;

export type FlagName = keyof typeof flags;

/** Name of the program. */
export const program = "cloudwire-provider-aws";

/** What `--help` says of it. */
export const about =
  "Serves the contract cloudprovider.v1 for Amazon Web Services. Credentials and endpoints come from where every program with the SDK of AWS finds them.";
