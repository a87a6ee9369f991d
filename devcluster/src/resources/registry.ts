import { isIPv4 } from "node:net";
import { isJsonArray, valueAt } from "../json.ts";
import type { KubeObject } from "../object.ts";
import type { Store } from "../storage/store.ts";
import { toBits } from "../validation/addresses.ts";
import { createSigningRequests } from "./certificate-signing-requests.ts";
import { configMaps } from "./config-maps.ts";
import { endpointSlices } from "./endpoint-slices.ts";
import { coreEvents, events } from "./events.ts";
import { leases } from "./leases.ts";
import { namespaces } from "./namespaces.ts";
import { createNodes } from "./nodes.ts";
import { createPersistentVolumes } from "./persistent-volumes.ts";
import { pods } from "./pods.ts";
import type { Resource } from "./resource.ts";
import { createPool } from "./services/pool.ts";
import { createServices } from "./services/resource.ts";

export interface RegistryOptions {
  readonly store: Store;
  readonly nowMs: () => number;
  /** IPv4 range of cluster IPs, such as 10.96.0.0/16. */
  readonly serviceCidr: string;
  /** Whether a new node starts with the taint not-ready (admission plugin TaintNodesByCondition). */
  readonly taintsNewNodes: boolean;
}

/** The node ports of a default kube-apiserver. */
const firstNodePort = 30_000;
const nodePortCount = 2768;
/** Users pick node ports from the start of the range, so allocation starts after it (upstream's static range). */
const staticNodePorts = 86;
/** Likewise for cluster IPs; .1 belongs to the API server itself. */
const staticClusterIps = 256;

/** Every stored resource, one row each. */
export function createRegistry({ store, nowMs, serviceCidr, taintsNewNodes }: RegistryOptions): readonly Resource[] {
  return [
    configMaps,
    coreEvents,
    namespaces,
    createNodes(taintsNewNodes),
    createPersistentVolumes(nowMs),
    pods,
    createServices({
      clusterIps: createClusterIpPool(store, serviceCidr),
      nodePorts: createPool<number>({
        size: nodePortCount,
        firstIndex: staticNodePorts,
        valueAt: (index) => firstNodePort + index,
        indexOf: (port) => (port >= firstNodePort && port < firstNodePort + nodePortCount ? port : undefined),
        inUse: () => new Set(store.list("/services").flatMap(({ object }) => nodePortsInUse(object))),
        outside: () =>
          `provided port is not in the valid range. The range of valid ports is ${firstNodePort}-${firstNodePort + nodePortCount - 1}`,
        taken: "provided port is already allocated",
      }),
    }),
    createSigningRequests(nowMs),
    leases,
    endpointSlices,
    events,
  ];
}

function createClusterIpPool(store: Store, cidr: string): ReturnType<typeof createPool<string>> {
  const [network = "", prefix = ""] = cidr.split("/");
  if (!isIPv4(network) || !/^\d+$/.test(prefix) || Number(prefix) > 28) {
    throw new Error(
      `service range ${JSON.stringify(cidr)} is no IPv4 range of at least 16 addresses: give one like 10.96.0.0/16`,
    );
  }
  const base = Number.parseInt(toBits(network), 2);
  const size = 2 ** (32 - Number(prefix));
  // The first and the last address of the range are never given out.
  const usable = size - 2;
  return createPool<string>({
    size: usable,
    firstIndex: Math.min(staticClusterIps, Math.floor(size / 16)),
    valueAt: (index) => formatAddress(base + 1 + index),
    indexOf: (address) => {
      const place = isIPv4(address) ? Number.parseInt(toBits(address), 2) - base - 1 : -1;
      return place >= 0 && place < usable ? place : undefined;
    },
    inUse: () => new Set(store.list("/services").flatMap(({ object }) => clusterIpsOf(object))),
    outside: () => "the provided network does not match the current range",
    taken: "provided IP is already allocated",
  });
}

function clusterIpsOf(service: KubeObject): readonly string[] {
  const addresses = valueAt(service, "spec", "clusterIPs");
  return isJsonArray(addresses) ? addresses.filter((address) => typeof address === "string") : [];
}

function nodePortsInUse(service: KubeObject): readonly number[] {
  const ports = valueAt(service, "spec", "ports");
  const values = isJsonArray(ports) ? ports.map((port) => valueAt(port, "nodePort")) : [];
  return [...values, valueAt(service, "spec", "healthCheckNodePort")].filter((port) => typeof port === "number");
}

function formatAddress(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}
