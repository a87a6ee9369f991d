import type { Instance, InstanceState, IpFamily, NodeAddress } from "@cloudwire/provider-sdk";
import { formatId } from "./provider-id.ts";
import type { KnownServer, Server } from "./server.ts";

/** How servers are shown to Kubernetes. */
export interface InstanceView {
  readonly region: string;
  /** Whether provider IDs name the region. */
  readonly regionInIds: boolean;
  /** Names of the networks of internal addresses, the preferred one first. Empty: all networks. */
  readonly internalNetworks: readonly string[];
  /** Names of networks whose fixed addresses can be reached from outside. */
  readonly publicNetworks: readonly string[];
  /** Families of the addresses that Nodes get, the preferred first. */
  readonly ipFamilies: readonly IpFamily[];
}

/** As OpenStack's own controller names it: a hash of the host, different for each project. */
const hostIdLabel = "topology.openstack.org/host-id";

/** The properties that Kubernetes takes over. */
export function toInstance(server: KnownServer, view: InstanceView): Instance {
  const { id, name, created, flavor, fault, hostId } = server;
  const zone = server["OS-EXT-AZ:availability_zone"];
  const reason = fault?.message ?? server.status;
  return {
    id: formatId(id, view.regionInIds ? view.region : undefined),
    name,
    type: flavor?.original_name,
    // A server that is not placed yet has none.
    zone: zone === null || zone === "" ? undefined : zone,
    region: view.region,
    addresses: addressesOf(server, view),
    state: stateOf(server),
    stateReason: reason === "ACTIVE" ? undefined : reason,
    labels: hostId === undefined || hostId === "" ? {} : { [hostIdLabel]: hostId },
    createTime: created === undefined ? undefined : new Date(created),
  };
}

const states: ReadonlyMap<string, InstanceState> = new Map([
  ["ACTIVE", "RUNNING"],
  ["BUILD", "PENDING"],
  ["HARD_REBOOT", "RUNNING"],
  ["MIGRATING", "RUNNING"],
  ["PASSWORD", "RUNNING"],
  // It keeps its memory and volumes and can resume.
  ["PAUSED", "RUNNING"],
  ["REBOOT", "RUNNING"],
  ["REBUILD", "PENDING"],
  ["RESCUE", "RUNNING"],
  ["RESIZE", "RUNNING"],
  ["REVERT_RESIZE", "RUNNING"],
  ["SHELVED", "STOPPED"],
  ["SHELVED_OFFLOADED", "STOPPED"],
  ["SHUTOFF", "STOPPED"],
  // It can be restored until Nova reclaims it.
  ["SOFT_DELETED", "TERMINATING"],
  ["SUSPENDED", "RUNNING"],
  ["VERIFY_RESIZE", "RUNNING"],
]);

const stopping: ReadonlySet<string> = new Set(["powering-off", "shelving", "shelving_image_uploading"]);

/** Undefined: not known, as of a server in state ERROR, which may run or not. */
export function stateOf(server: Pick<Server, "status" | "OS-EXT-STS:task_state">): InstanceState | undefined {
  const task = server["OS-EXT-STS:task_state"] ?? "";
  if (task === "deleting") return "TERMINATING";
  if (stopping.has(task) && server.status === "ACTIVE") return "STOPPING";
  return states.get(server.status);
}

interface Found {
  readonly type: "InternalIP" | "ExternalIP";
  readonly family: IpFamily;
  readonly address: string;
}

/** Internal addresses, then those from outside, each in the order of families; then the name. */
export function addressesOf(
  server: Pick<KnownServer, "name" | "addresses" | "accessIPv4" | "accessIPv6">,
  view: Pick<InstanceView, "internalNetworks" | "publicNetworks" | "ipFamilies">,
): readonly NodeAddress[] {
  const found: Found[] = [...networksOf(server, view)].flatMap(([network, addresses]) =>
    addresses.flatMap((entry) => {
      const family = entry.version === 6 ? "IPv6" : "IPv4";
      const type = typeOf(network, entry["OS-EXT-IPS:type"], view);
      return type === undefined ? [] : [{ type, family, address: entry.addr } as const];
    }),
  );
  for (const [family, address] of [
    ["IPv4", server.accessIPv4],
    ["IPv6", server.accessIPv6],
  ] as const) {
    if (address) found.push({ type: "ExternalIP", family, address });
  }
  const listed = (["InternalIP", "ExternalIP"] as const).flatMap((type) =>
    view.ipFamilies.flatMap((family) => found.filter((each) => each.type === type && each.family === family)),
  );
  const unique = new Map(listed.map(({ type, address }) => [`${type} ${address}`, { type, address }]));
  return [...unique.values(), { type: "Hostname", address: server.name }];
}

/** Named networks in their order, then the others by name: Nova's own order changes. */
function networksOf(
  { addresses = {} }: Pick<Server, "addresses">,
  { internalNetworks }: Pick<InstanceView, "internalNetworks">,
) {
  const rank = (network: string): number => {
    const index = internalNetworks.indexOf(network);
    return index < 0 ? internalNetworks.length : index;
  };
  return Object.entries(addresses).toSorted(([left], [right]) => rank(left) - rank(right) || (left < right ? -1 : 1));
}

/** Undefined: an address that is not shown. */
function typeOf(
  network: string,
  ipType: string | undefined,
  { internalNetworks, publicNetworks }: Pick<InstanceView, "internalNetworks" | "publicNetworks">,
): "InternalIP" | "ExternalIP" | undefined {
  if (ipType === "floating" || publicNetworks.includes(network)) return "ExternalIP";
  return internalNetworks.length === 0 || internalNetworks.includes(network) ? "InternalIP" : undefined;
}
