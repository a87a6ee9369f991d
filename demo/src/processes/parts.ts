import { join } from "node:path";
import type { ProcessSpec } from "./supervised.ts";

/** The directory of the demo's files; deleted when it stops. */
export interface DemoDirectory {
  readonly path: string;
}

/** Networks of the cloud, CIDR. */
export interface CloudPools {
  readonly instancePool: string;
  readonly loadBalancerPool: string;
}

/** Not a secret: the demo's cloud listens on loopback only. */
export const CLOUD_ACCOUNT = { id: "demo", key: "demo-key" } as const;
const PROVIDER_NAME = "simulated";

/** A Kubernetes API in memory. Its ready line has its URL. */
export function clusterSpec(directory: DemoDirectory): ProcessSpec {
  return spec(directory, "cluster", {
    command: ["devcluster/src/main.ts", "--port=0"],
    readyLine: /^devcluster: serving the Kubernetes API at (\S+)/,
  });
}

/** The simulated cloud with its HTTP API. Its ready line has its URL. */
export function cloudSpec(directory: DemoDirectory, { instancePool, loadBalancerPool }: CloudPools): ProcessSpec {
  const { id, key } = CLOUD_ACCOUNT;
  return spec(directory, "cloud", {
    command: [
      "providers/simulated/src/cloud/main.ts",
      "--listen=127.0.0.1:0",
      `--state=${join(directory.path, "cloud.db")}`,
      `--account=${id}=${key}`,
      `--instance-pool=${instancePool}`,
      `--load-balancer-pool=${loadBalancerPool}`,
      "--log-level=warn",
    ],
    readyLine: /^simcloud ready (\S+)/,
  });
}

/** The provider sidecar, which connects to the cloud and listens on a Unix socket. */
export function providerSpec(directory: DemoDirectory, cloudUrl: string): ProcessSpec {
  return spec(directory, "provider", {
    command: ["providers/simulated/src/sidecar/main.ts", `--cloud-url=${cloudUrl}`],
    env: { CLOUD_PROVIDER_ENDPOINT: `unix://${socketFile(directory)}`, SIMCLOUD_API_KEY: CLOUD_ACCOUNT.key },
    readyLine: /^provider ready (\S+)/,
  });
}

/** The controller. Its ready line has the URLs of its health endpoints and of its status page. The latter is the same after a restart. */
export function controllerSpec(directory: DemoDirectory, statusPagePort: number): ProcessSpec {
  return spec(directory, "controller", {
    command: [
      "controller/src/main.ts",
      `--kubeconfig=${kubeconfigFile(directory)}`,
      `--provider=${PROVIDER_NAME}=unix://${socketFile(directory)}`,
      "--cluster-name=demo",
      "--health-bind-address=127.0.0.1:0",
      "--secure-port=0",
      `--status-page-bind-address=127.0.0.1:${statusPagePort}`,
    ],
    readyLine: /Started.*health="?(http:[^\s"]+).*statusPage="?(http:[^\s"]+)/,
  });
}

/**
 * A kubeconfig for the cluster, which treats every client as its administrator. It uses plain HTTP on loopback only;
 * client-node requires the insecure flag for that.
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

export function kubeconfigFile(directory: DemoDirectory): string {
  return join(directory.path, "kubeconfig");
}

function socketFile(directory: DemoDirectory): string {
  return join(directory.path, "provider.sock");
}

function spec(directory: DemoDirectory, name: string, rest: Omit<ProcessSpec, "name" | "logFile">): ProcessSpec {
  return { name, logFile: join(directory.path, `${name}.log`), ...rest };
}
