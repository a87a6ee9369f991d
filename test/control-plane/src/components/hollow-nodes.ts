import { mkdir } from "node:fs/promises";
import path from "node:path";
import { type ApiClient, getObject } from "../api-client.ts";
import type { Layout } from "./arguments.ts";
import { ControlPlaneError } from "../errors.ts";
import { isObject, listAt, objectAt } from "../json.ts";
import type { Kubeconfig } from "../credentials/kubeconfig.ts";
import type { ManagedProcess } from "./managed-process.ts";
import type { HollowNodeOptions, Taint } from "../options.ts";
import { poll } from "../poll.ts";
import { findFreePort } from "../ports.ts";
import type { Launch } from "./servers.ts";

export interface HollowNodesContext {
  readonly layout: Layout;
  readonly launch: Launch;
  readonly admin: ApiClient;
  readonly kubeconfigFor: (user: string, groups: readonly string[]) => Promise<Kubeconfig>;
  readonly timeoutMs: number;
}

/** The hollow kubelets of one control plane. */
export class HollowNodes {
  readonly #context: HollowNodesContext;
  readonly #running = new Map<string, ManagedProcess>();
  /** One for each name ever started; a kubelet that is started again finds its files. */
  readonly #rootDirs = new Map<string, string>();

  constructor(context: HollowNodesContext) {
    this.#context = context;
  }

  /** Returns when the Node is registered and ready. */
  async start(name: string, options: HollowNodeOptions): Promise<void> {
    const { launch, admin, timeoutMs } = this.#context;
    if (this.#running.has(name)) {
      throw new ControlPlaneError("BAD_OPTIONS", `start hollow node ${name}: it runs already`);
    }
    const leasePath = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${name}`;
    const isRestart = (await getObject(admin, leasePath)) !== undefined;
    const startedAtMs = Date.now();
    const process = await launch("hollow-kubelet", await this.#args(name, options));
    this.#running.set(name, process);
    await poll({ what: `hollow node ${name} to be ready (${process.logPath})`, timeoutMs }, async () => {
      await process.requireRunning();
      if (!isReady(await getObject(admin, `/api/v1/nodes/${name}`))) return undefined;
      // The Node of a restarted kubelet was ready before: only the lease says that this kubelet is at work. A new Node
      // gets its first lease as late as 10 s after its registration.
      if (!isRestart || renewedAtMs(await getObject(admin, leasePath)) >= startedAtMs) return true;
      return undefined;
    });
  }

  /** Like pulling the plug: the Node object stays, and no one renews its lease any more. */
  async stop(name: string): Promise<void> {
    const process = this.#running.get(name);
    if (process === undefined) {
      throw new ControlPlaneError("BAD_OPTIONS", `stop hollow node ${name}: it does not run`);
    }
    this.#running.delete(name);
    await process.stop();
  }

  async #args(name: string, options: HollowNodeOptions): Promise<readonly string[]> {
    const kubeconfig = await this.#context.kubeconfigFor(`system:node:${name}`, ["system:nodes"]);
    const { cloudProvider = "external", providerId, nodeIp, labels, taints, maxPods, servingCertificate } = options;
    return [
      `--hostname-override=${name}`,
      `--kubeconfig=${kubeconfig.path}`,
      `--root-dir=${await this.#rootDir(name)}`,
      `--cloud-provider=${cloudProvider}`,
      ...optional("provider-id", providerId),
      ...optional("node-ip", nodeIp),
      ...optional("node-labels", labels && formatLabels(labels)),
      ...optional("register-with-taints", taints?.map(formatTaint).join(",")),
      ...optional("max-pods", maxPods),
      ...(servingCertificate === undefined ? [] : ["--rotate-server-certificates", `--port=${await findFreePort()}`]),
    ];
  }

  /** Not named for the Node: the path of a Unix socket in it may have 107 bytes only. */
  async #rootDir(name: string): Promise<string> {
    const dir = this.#rootDirs.get(name) ?? path.join(this.#context.layout.nodes, String(this.#rootDirs.size + 1));
    this.#rootDirs.set(name, dir);
    await mkdir(dir, { recursive: true });
    return dir;
  }
}

function optional(flag: string, value: string | number | undefined): readonly string[] {
  return value === undefined ? [] : [`--${flag}=${value}`];
}

function formatLabels(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}

function formatTaint({ key, value = "", effect }: Taint): string {
  return `${key}=${value}:${effect}`;
}

function isReady(node: unknown): boolean {
  const conditions = listAt(objectAt(node, "status"), "conditions");
  return conditions.some(
    (condition) => isObject(condition) && condition["type"] === "Ready" && condition["status"] === "True",
  );
}

function renewedAtMs(lease: unknown): number {
  const time = objectAt(lease, "spec")["renewTime"];
  return typeof time === "string" ? Date.parse(time) : Number.NaN;
}
