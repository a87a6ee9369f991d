import { join } from "node:path";
import type { ProcessSpec } from "./supervised.ts";

/** Where the demo keeps its files; gone when it ends. */
export interface DemoFolder {
  readonly path: string;
}

/** Networks of the cloud, CIDR. */
export interface CloudPools {
  readonly instancePool: string;
  readonly loadBalancerPool: string;
}

/** Keys of the demo's own cloud, which listens on loopback only: no secret. */
export const CLOUD_ACCOUNT = { id: "demo", key: "demo-key" } as const;
const PROVIDER_NAME = "simulated";

/** A Kubernetes API in memory. Its ready line names its URL. */
export function clusterSpec(folder: DemoFolder): ProcessSpec {
  return spec(folder, "cluster", {
    command: ["devcluster/src/main.ts", "--port=0"],
    readyLine: /^devcluster: serving the Kubernetes API at (\S+)/,
  });
}

/** A cloud with an HTTP API. Its ready line names its URL. */
export function cloudSpec(folder: DemoFolder, { instancePool, loadBalancerPool }: CloudPools): ProcessSpec {
  const { id, key } = CLOUD_ACCOUNT;
  return spec(folder, "cloud", {
    command: [
      "providers/simulated/src/cloud/main.ts",
      "--listen=127.0.0.1:0",
      `--state=${join(folder.path, "cloud.db")}`,
      `--account=${id}=${key}`,
      `--instance-pool=${instancePool}`,
      `--load-balancer-pool=${loadBalancerPool}`,
      "--log-level=warn",
    ],
    readyLine: /^simcloud ready (\S+)/,
  });
}

/** The provider sidecar: the cloud on one side, a Unix socket on the other. */
export function providerSpec(folder: DemoFolder, cloudUrl: string): ProcessSpec {
  return spec(folder, "provider", {
    command: ["providers/simulated/src/sidecar/main.ts", `--cloud-url=${cloudUrl}`],
    env: { CLOUD_PROVIDER_ENDPOINT: `unix://${socketFile(folder)}`, SIMCLOUD_API_KEY: CLOUD_ACCOUNT.key },
    readyLine: /^provider ready (\S+)/,
  });
}

/** The product itself. Its ready line names the URLs of its health and of its status page, which is the same after a restart. */
export function controllerSpec(folder: DemoFolder, statusPagePort: number): ProcessSpec {
  return spec(folder, "controller", {
    command: [
      "controller/src/main.ts",
      `--kubeconfig=${kubeconfigFile(folder)}`,
      `--provider=${PROVIDER_NAME}=unix://${socketFile(folder)}`,
      "--cluster-name=demo",
      "--health-address=127.0.0.1:0",
      "--secure-port=0",
      `--status-page-address=127.0.0.1:${statusPagePort}`,
    ],
    readyLine: /Started.*health="?(http:[^\s"]+).*statusPage="?(http:[^\s"]+)/,
  });
}

/**
 * A kubeconfig for the cluster, which takes everybody for its administrator. It speaks plain HTTP, on loopback only;
 * client-node wants the insecure flag set for that.
 */
export function kubeconfig(url: string): string {
  const name = "demo";
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: url, "insecure-skip-tls-verify": true } }],
    users: [{ name, user: {} }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  });
}

export function kubeconfigFile(folder: DemoFolder): string {
  return join(folder.path, "kubeconfig");
}

function socketFile(folder: DemoFolder): string {
  return join(folder.path, "provider.sock");
}

function spec(folder: DemoFolder, name: string, rest: Omit<ProcessSpec, "name" | "logFile">): ProcessSpec {
  return { name, logFile: join(folder.path, `${name}.log`), ...rest };
}
