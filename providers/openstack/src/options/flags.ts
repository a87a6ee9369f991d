import type { ProgramOptions } from "@cloudwire/provider-sdk/program";

export const flags = {
  endpoint: {
    valueName: "unix:///path.sock",
    env: "CLOUD_PROVIDER_ENDPOINT",
    help: "Socket to serve the contract on. Required.",
  },
  "auth-url": { valueName: "url", env: "OS_AUTH_URL", help: "Where Keystone is. Required." },
  "application-credential-id": {
    valueName: "id",
    env: "OS_APPLICATION_CREDENTIAL_ID",
    help: "Application credential of the cluster's project. Required.",
  },
  "application-credential-secret-file": {
    valueName: "path",
    env: "CLOUDWIRE_OPENSTACK_APPLICATION_CREDENTIAL_SECRET_FILE",
    help: "File with its secret, read again for each token. Default: the secret is in OS_APPLICATION_CREDENTIAL_SECRET.",
  },
  region: { valueName: "region", env: "OS_REGION_NAME", help: "Region of the cluster. Required." },
  interface: {
    valueName: "interface",
    env: "OS_INTERFACE",
    help: "Which endpoints of the service catalog are called: public, internal or admin. Default public.",
  },
  "region-in-provider-ids": {
    valueName: "true|false",
    env: "CLOUDWIRE_OPENSTACK_REGION_IN_PROVIDER_IDS",
    help: "Whether new provider IDs are openstack://region/uuid and not openstack:///uuid; both are always read. Default false.",
  },
  "node-network": {
    valueName: "name",
    env: "CLOUDWIRE_OPENSTACK_NODE_NETWORK",
    repeated: true,
    help: "Network whose fixed addresses are the Nodes' internal ones, the preferred first. Default: all networks.",
  },
  "public-network": {
    valueName: "name",
    env: "CLOUDWIRE_OPENSTACK_PUBLIC_NETWORK",
    repeated: true,
    help: "Network whose fixed addresses can be reached from outside: they become external ones, as floating IPs do. Default: none.",
  },
  "node-ip-family": {
    valueName: "IPv4|IPv6",
    env: "CLOUDWIRE_OPENSTACK_NODE_IP_FAMILY",
    repeated: true,
    help: "Families of the addresses that Nodes get, the preferred one first. Default IPv4.",
  },
  "load-balancer-subnet": {
    valueName: "id",
    env: "CLOUDWIRE_OPENSTACK_LOAD_BALANCER_SUBNET",
    help: "Subnet of the load balancers' own addresses: the provider serves Services. Default: none, something else takes care of them.",
  },
  "member-subnet": {
    valueName: "id",
    env: "CLOUDWIRE_OPENSTACK_MEMBER_SUBNET",
    help: "Subnet of the nodes as load balancers reach them. Default: through the load balancers' subnet.",
  },
  "floating-network": {
    valueName: "id",
    env: "CLOUDWIRE_OPENSTACK_FLOATING_NETWORK",
    help: "Network that load balancers get floating IPs from. Default: none, they have their own addresses only.",
  },
  "load-balancer-provider": {
    valueName: "name",
    env: "CLOUDWIRE_OPENSTACK_LOAD_BALANCER_PROVIDER",
    help: "Octavia's provider driver, such as amphora. Default: the cloud's own choice.",
  },
  router: {
    valueName: "id",
    env: "CLOUDWIRE_OPENSTACK_ROUTER",
    help: "Router of the nodes' subnets: the provider serves routes to pod CIDRs. Default: none, something else takes care of them.",
  },
  "pod-cidr": {
    valueName: "range",
    env: "CLOUDWIRE_OPENSTACK_POD_CIDR",
    repeated: true,
    help: "The cluster's pod CIDRs, as in --cluster-cidr of the controller: within them the router's routes are the cluster's. Required with --router.",
  },
  "route-quota": {
    valueName: "count",
    env: "CLOUDWIRE_OPENSTACK_ROUTE_QUOTA",
    help: "Routes that a router takes, max_routes of Neutron's configuration. Default 30.",
  },
  "call-rate": {
    valueName: "rate:burst",
    env: "CLOUDWIRE_OPENSTACK_CALL_RATE",
    help: "Requests to the cloud a second that are left to this cluster, and how many at once; the controller keeps to it. Default 10:50.",
  },
  "watch-interval": {
    valueName: "seconds",
    env: "CLOUDWIRE_OPENSTACK_WATCH_INTERVAL",
    help: "Between two lists of all servers that a watch is made of, 10 to 3600. Default 60.",
  },
} as const satisfies ProgramOptions;

export type FlagName = keyof typeof flags;

/** Of the secret itself, which is no option: command lines can be read by others. */
export const secretVariable = "OS_APPLICATION_CREDENTIAL_SECRET";

/** Name of the program. */
export const program = "cloudwire-provider-openstack";

/** What `--help` says of it. */
export const about =
  "Serves the contract cloudprovider.v1 for OpenStack. Where a command-line client of OpenStack has a variable for the same, it is read.";
