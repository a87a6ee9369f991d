import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import type { Instance } from "@cloudwire/provider-simulated";
import { inParallel, type Kube, Program } from "@cloudwire/test";
import { CLOUDWIRE, RAW_WRITER, UPSTREAM, UPSTREAM_TUNED } from "./names.ts";

/** Where a peer works. */
export interface PeerSite {
  readonly kube: Kube;
  /** Of the user whose requests are counted. */
  readonly kubeconfigPath: string;
  readonly cloudUrl: string;
  readonly apiKey: string;
  /** UID of namespace kube-system. */
  readonly clusterId: string;
  /** For sockets. */
  readonly folder: string;
  /** Those whose Nodes wait for a cloud controller. */
  readonly machines: readonly Instance[];
}

/** One of those that are compared. */
export interface Peer {
  readonly name: string;
  /** Starts its programs, the controller first, and does not wait for them. */
  readonly start: (site: PeerSite) => Promise<readonly Program[]>;
}

const built = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** Controller and sidecar as they are shipped, with the flags' defaults. */
export const cloudwire: Peer = {
  name: CLOUDWIRE,
  start: async ({ kubeconfigPath, cloudUrl, apiKey, folder }) => {
    const endpoint = `unix://${folder}/provider.sock`;
    const controller = new Program({
      command: execPath,
      args: [
        built("controller/bin/cloudwire-controller-manager.mjs"),
        `--kubeconfig=${kubeconfigPath}`,
        `--provider=simulated=${endpoint}`,
        "--secure-port=0",
      ],
    });
    const sidecar = new Program({
      command: execPath,
      args: [built("providers/simulated/bin/cloudwire-provider-simulated.mjs"), `--cloud-url=${cloudUrl}`],
      env: { CLOUD_PROVIDER_ENDPOINT: endpoint, SIMCLOUD_API_KEY: apiKey },
    });
    return [controller, sidecar];
  },
};

/** Of upstream's, what an operator of a large cluster sets. */
const TUNED = [
  "--kube-api-qps=1000",
  "--kube-api-burst=2000",
  "--concurrent-node-syncs=30",
  "--concurrent-service-syncs=30",
] as const;

/** Upstream's controllers over the same cloud, with the flags' defaults and tuned. */
export function upstreamPeers(command: string): readonly Peer[] {
  return [upstream(UPSTREAM, command, []), upstream(UPSTREAM_TUNED, command, TUNED)];
}

function upstream(name: string, command: string, flags: readonly string[]): Peer {
  return {
    name,
    start: async ({ kubeconfigPath, cloudUrl, apiKey, clusterId }) => {
      const args = [
        `--kubeconfig=${kubeconfigPath}`,
        "--cloud-provider=simulated",
        "--secure-port=0",
        "--authentication-skip-lookup",
        "--configure-cloud-routes=false",
        ...flags,
      ];
      const env = { SIMCLOUD_URL: cloudUrl, SIMCLOUD_API_KEY: apiKey, SIMCLOUD_CLUSTER_ID: clusterId };
      return [new Program({ command, args, env })];
    },
  };
}

/** No controller at all: the two writes that each node needs, as fast as the API server takes them from the bench. */
export const rawWriter: Peer = {
  name: RAW_WRITER,
  start: async ({ kube, machines }) => {
    await inParallel(machines, async ({ id, name, zone, region, type, internalAddresses }) => {
      const addresses = internalAddresses.map((address) => ({ type: "InternalIP", address }));
      await kube.patch(`/api/v1/nodes/${name}/status`, { status: { addresses } });
      const labels = {
        "node.kubernetes.io/instance-type": type,
        "topology.kubernetes.io/zone": zone,
        "topology.kubernetes.io/region": region,
      };
      const spec = { providerID: `sim://${zone}/${id}`, taints: [] };
      await kube.patch(`/api/v1/nodes/${name}`, { metadata: { labels }, spec });
    });
    return [];
  },
};
