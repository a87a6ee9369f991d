import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import type { Instance } from "@cloudwire/provider-simulated";
import { freePort, Program } from "@cloudwire/test";
import { CLOUDWIRE, UPSTREAM, UPSTREAM_TUNED } from "./names.ts";

/** Where a peer works. */
export interface PeerSite {
  /** Credentials of the user whose requests are counted. */
  readonly kubeconfigPath: string;
  /** The same, for peers without a kubeconfig. */
  readonly api: { readonly server: string; readonly caPem: string; readonly token: string };
  readonly cloudUrl: string;
  readonly apiKey: string;
  /** UID of namespace kube-system. */
  readonly clusterId: string;
  /** For sockets. */
  readonly directory: string;
  /** Those whose Nodes wait for a cloud controller. */
  readonly machines: readonly Instance[];
  /** Maximum concurrent load balancer calls of the cloud; undefined: no limit. */
  readonly loadBalancerCallsAtOnce: number | undefined;
}

/** URLs of a controller's pages. */
export interface Pages {
  readonly health: string;
  /** Of those of a Node process, without credentials. */
  readonly metrics?: string;
}

/** What a peer consists of while it works. */
export interface Running {
  /** The controller first. */
  readonly programs: readonly Program[];
  /** Once they are known. */
  readonly pages?: Promise<Pages>;
  /** Its share of the benchmark's own process. */
  readonly ownCpuSeconds?: number;
}

/** One of those that are compared. */
export interface Peer {
  readonly name: string;
  /** Starts its programs and does not wait for them. The flags are for its controller. */
  readonly start: (site: PeerSite, flags: readonly string[]) => Promise<Running>;
}

const HEALTH_MS = 60_000;

const built = (path: string): string => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));

/** Controller and sidecar as they are shipped, with the flags' defaults. */
export const cloudwire: Peer = {
  name: CLOUDWIRE,
  start: async ({ kubeconfigPath, cloudUrl, apiKey, directory, loadBalancerCallsAtOnce }, flags) => {
    const endpoint = `unix://${directory}/provider.sock`;
    const controller = new Program({
      command: execPath,
      args: [
        built("controller/bin/cloudwire-controller-manager.mjs"),
        `--kubeconfig=${kubeconfigPath}`,
        `--provider=simulated=${endpoint}`,
        "--bind-address=127.0.0.1",
        `--secure-port=${await freePort()}`,
        "--health-bind-address=127.0.0.1:0",
        ...flags,
      ],
    });
    const sidecar = new Program({
      command: execPath,
      args: [
        built("providers/simulated/bin/cloudwire-provider-simulated.mjs"),
        `--cloud-url=${cloudUrl}`,
        // A vendor knows this limit; an operator of upstream must find it.
        ...(loadBalancerCallsAtOnce === undefined ? [] : [`--max-concurrent-changes=${loadBalancerCallsAtOnce}`]),
      ],
      env: { CLOUD_PROVIDER_ENDPOINT: endpoint, SIMCLOUD_API_KEY: apiKey },
    });
    const said = controller.said(/health=(http:\S+)/, HEALTH_MS);
    return {
      programs: [controller, sidecar],
      pages: said.then(([, url = ""]) => ({ health: `${url}/healthz`, metrics: `${url}/metrics` })),
    };
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

function upstream(name: string, command: string, ownFlags: readonly string[]): Peer {
  return {
    name,
    start: async ({ kubeconfigPath, cloudUrl, apiKey, clusterId }, flags) => {
      const port = await freePort();
      const args = [
        `--kubeconfig=${kubeconfigPath}`,
        "--cloud-provider=simulated",
        "--bind-address=127.0.0.1",
        `--secure-port=${port}`,
        "--authentication-skip-lookup",
        "--configure-cloud-routes=false",
        ...ownFlags,
        ...flags,
      ];
      const env = { SIMCLOUD_URL: cloudUrl, SIMCLOUD_API_KEY: apiKey, SIMCLOUD_CLUSTER_ID: clusterId };
      return {
        programs: [new Program({ command, args, env })],
        pages: Promise.resolve({ health: `https://127.0.0.1:${port}/healthz` }),
      };
    },
  };
}
