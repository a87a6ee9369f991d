import type { ProgramOptions } from "@cloudwire/provider-sdk/program";

export const flags = {
  endpoint: {
    valueName: "unix:///path.sock",
    env: "CLOUD_PROVIDER_ENDPOINT",
    help: "Socket to serve the contract on. Required.",
  },
  "auth-url": { valueName: "url", env: "OS_AUTH_URL", help: "URL of Keystone. Required." },
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
    help: "Endpoints of the service catalog to use: public, internal or admin. Default public.",
  },
  "region-in-provider-ids": {
    valueName: "true|false",
    env: "CLOUDWIRE_OPENSTACK_REGION_IN_PROVIDER_IDS",
    help: "Whether new provider IDs are openstack://region/uuid instead of openstack:///uuid. Both are always accepted. Default false.",
  },
  "node-network": {
    valueName: "name",
    env: "CLOUDWIRE_OPENSTACK_NODE_NETWORK",
    repeated: true,
    help: "Network of the Nodes' internal addresses, the preferred one first. Default: all networks.",
  },
  "public-network": {
    valueName: "name",
    env: "CLOUDWIRE_OPENSTACK_PUBLIC_NETWORK",
    repeated: true,
    help: "Network whose fixed addresses are reachable from outside. They become external addresses, like floating IPs. Default: none.",
  },
  "node-ip-family": {
    valueName: "IPv4|IPv6",
    env: "CLOUDWIRE_OPENSTACK_NODE_IP_FAMILY",
    repeated: true,
    help: "IP families of Node addresses, the preferred one first. Default IPv4.",
  },
  "load-balancer-subnet": {
    valueName: "id",
    env: "CLOUDWIRE_OPENSTACK_LOAD_BALANCER_SUBNET",
    help: "Subnet of the load balancers' own addresses. Enables load balancers. Default: none, load balancers are disabled.",
  },
  "member-subnet": {
    valueName: "id",
    env: "CLOUDWIRE_OPENSTACK_MEMBER_SUBNET",
    help: "Subnet through which load balancers reach the nodes. Default: the load balancers' subnet.",
  },
  "floating-network": {
    valueName: "id",
    env: "CLOUDWIRE_OPENSTACK_FLOATING_NETWORK",
    help: "Network of the load balancers' floating IPs. Default: none, load balancers have no floating IPs.",
  },
  "load-balancer-provider": {
    valueName: "name",
    env: "CLOUDWIRE_OPENSTACK_LOAD_BALANCER_PROVIDER",
    help: "Octavia's provider driver, such as amphora. Default: the cloud's default.",
  },
  router: {
    valueName: "id",
    env: "CLOUDWIRE_OPENSTACK_ROUTER",
    help: "Router of the nodes' subnets. Enables routes to pod CIDRs. Default: none, routes are disabled.",
  },
  "pod-cidr": {
    valueName: "range",
    env: "CLOUDWIRE_OPENSTACK_POD_CIDR",
    repeated: true,
    help: "The cluster's pod CIDRs, as in --cluster-cidr of the controller. The router's routes within them belong to the cluster. Required with --router.",
  },
  "route-quota": {
    valueName: "count",
    env: "CLOUDWIRE_OPENSTACK_ROUTE_QUOTA",
    help: "Maximum number of routes of a router, max_routes in Neutron's configuration. Default 30.",
  },
  "call-rate": {
    valueName: "rate:burst",
    env: "CLOUDWIRE_OPENSTACK_CALL_RATE",
    help: "Requests per second to the cloud that this cluster may send, and the burst. The controller enforces it. Default 10:50.",
  },
  "watch-interval": {
    valueName: "seconds",
    env: "CLOUDWIRE_OPENSTACK_WATCH_INTERVAL",
    help: "Interval between two lists of all servers for a watch, 10 to 3600. Default 60.",
  },
} as const satisfies ProgramOptions;

export type FlagName = keyof typeof flags;

/** Of the secret itself, which is no option: command lines can be read by others. */
export const secretVariable = "OS_APPLICATION_CREDENTIAL_SECRET";

/** Name of the program. */
export const program = "cloudwire-provider-openstack";

/** What `--help` says of it. */
export const about =
  "Serves the contract cloudprovider.v1 for OpenStack. It also reads the variables of OpenStack's command-line clients.";
