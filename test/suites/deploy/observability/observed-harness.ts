import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DevCluster, startDevCluster } from "@cloudwire/devcluster";
import { AdminClient, CloudClient, loopbackPools, spawnCloud, type SpawnedCloud } from "@cloudwire/provider-simulated";
import { eventually } from "../../../support/eventually.ts";
import { at, listOf } from "../../../support/kube.ts";
import { Program } from "../../../support/program.ts";
import { freePort } from "../../../support/secure-page.ts";

const API_KEY = "demo-key";
const STARTED_MS = 60_000;
const PATIENCE_MS = 60_000;
const CALL_MS = 10_000;

/** Good configuration, to begin with. */
const CONFIG = `apiVersion: cloudcontrollermanager.config.k8s.io/v1alpha1
kind: CloudControllerManagerConfiguration
`;

interface Site {
  readonly directory: string;
  readonly cloudUrl: string;
  readonly providerPort: number;
}

/** The real programs, with a cloud that fails on request: alerts and dashboards are tried on it. */
export class ObservedHarness implements AsyncDisposable {
  readonly cluster: DevCluster;
  readonly admin: AdminClient;
  /** Where each replica of the controller shows its metrics. */
  readonly targets: ReadonlyMap<string, string>;
  /** Where the provider shows its own. */
  readonly providerUrl: string;
  readonly #cloud: SpawnedCloud;
  readonly #client: CloudClient;
  readonly #site: Site;
  readonly #replicas: readonly Program[];
  #sidecar: Program;

  static async start(): Promise<ObservedHarness> {
    const directory = await mkdtemp(join(tmpdir(), "observed-"));
    await writeFile(join(directory, "config.yaml"), CONFIG);
    const cluster = await startDevCluster({ recordsRequests: false });
    await cluster.writeKubeconfig(join(directory, "kubeconfig"));
    const { instancePool, loadBalancerPool } = loopbackPools(process.pid);
    const cloud = await spawnCloud({
      flags: { "instance-pool": instancePool, "load-balancer-pool": loadBalancerPool },
    });
    const site = { directory, cloudUrl: cloud.url, providerPort: await freePort() };
    const sidecar = startSidecar(site);
    await sidecar.said(/provider ready/, STARTED_MS);
    const replicas = ["replica-1", "replica-2"].map(() => startReplica(directory));
    const urls = await Promise.all(replicas.map((replica) => replica.said(/"health":"(http:[^"]+)"/, STARTED_MS)));
    await eventually("one of the replicas to lead", STARTED_MS, () =>
      replicas.some(({ output }) => output.includes("Became leader")) ? true : undefined,
    );
    return new ObservedHarness({ site, cluster, cloud, sidecar, replicas, urls: urls.map(([, url = ""]) => url) });
  }

  private constructor(parts: {
    readonly site: Site;
    readonly cluster: DevCluster;
    readonly cloud: SpawnedCloud;
    readonly sidecar: Program;
    readonly replicas: readonly Program[];
    readonly urls: readonly string[];
  }) {
    this.cluster = parts.cluster;
    this.admin = new AdminClient({ url: parts.cloud.url });
    this.targets = new Map(parts.urls.map((url, index) => [`replica-${index + 1}`, url]));
    this.providerUrl = `http://127.0.0.1:${parts.site.providerPort}`;
    this.#cloud = parts.cloud;
    this.#client = new CloudClient({ url: parts.cloud.url, apiKey: API_KEY });
    this.#site = parts.site;
    this.#replicas = parts.replicas;
    this.#sidecar = parts.sidecar;
  }

  /** Machines, and Nodes that have just registered. */
  async addNodes(names: readonly string[]): Promise<void> {
    for (const name of names) await this.addMachine(name);
    for (const name of names) this.register(name);
  }

  /** Of which no kubelet has registered yet. */
  async addMachine(name: string): Promise<void> {
    await this.#client.createInstances([{ name, zone: "north-a" }], AbortSignal.timeout(CALL_MS));
  }

  /** A Node as its kubelet registers it; without a machine the cloud does not know it. */
  register(name: string): void {
    this.cluster.seed({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name },
      spec: {
        taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" }],
      },
      status: { conditions: [{ type: "Ready", status: "True" }] },
    });
  }

  addService(name: string): void {
    this.cluster.seed({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace: "default" },
      spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ port: 80, nodePort: 30_080, protocol: "TCP" }] },
    });
  }

  /** Every Node without its taint, every Service with an address. */
  async settled(): Promise<void> {
    await eventually("nodes and Services to be served", PATIENCE_MS, () => (this.#isSettled() ? true : undefined));
  }

  /** The machines go, and their kubelets fall silent. */
  async lose(names: readonly string[]): Promise<void> {
    const { items } = await this.#client.listInstances({}, AbortSignal.timeout(CALL_MS));
    const ids = items.filter(({ name }) => names.includes(name)).map(({ id }) => id);
    await this.#client.terminateInstances(ids, AbortSignal.timeout(CALL_MS));
    for (const name of names) await this.#patchReady(name, "Unknown");
  }

  removeNode(name: string): Promise<Response> {
    return fetch(`${this.cluster.url}/api/v1/nodes/${name}`, { method: "DELETE" });
  }

  /** Half a line, as a slip of the editor leaves it. */
  async spoilConfig(): Promise<void> {
    await writeFile(join(this.#site.directory, "config.yaml"), `${CONFIG}Generic: [\n`);
  }

  async mendConfig(): Promise<void> {
    await writeFile(join(this.#site.directory, "config.yaml"), CONFIG);
  }

  async stopProvider(): Promise<void> {
    await this.#sidecar.stop("SIGKILL");
  }

  async startProvider(): Promise<void> {
    this.#sidecar = startSidecar(this.#site);
    await this.#sidecar.said(/provider ready/, STARTED_MS);
  }

  /** What the replicas have said, for a test that fails. */
  get output(): string {
    return this.#replicas.map(({ output }) => output).join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of [...this.#replicas, this.#sidecar]) await program[Symbol.asyncDispose]();
    await this.#cloud.stop("SIGKILL");
    await this.cluster.close();
    await rm(this.#site.directory, { recursive: true, force: true });
  }

  async #patchReady(name: string, status: string): Promise<void> {
    const { ok, status: code } = await fetch(`${this.cluster.url}/api/v1/nodes/${name}/status`, {
      method: "PATCH",
      headers: { "content-type": "application/strategic-merge-patch+json" },
      body: JSON.stringify({ status: { conditions: [{ type: "Ready", status }] } }),
    });
    if (!ok) throw new Error(`the status of node ${name} cannot be changed: ${code}`);
  }

  #isSettled(): boolean {
    const nodes = this.cluster.list("v1", "Node").every((node) => listOf(at(node, "spec", "taints")).length === 0);
    const services = this.cluster
      .list("v1", "Service")
      .filter((service) => at(service, "spec", "type") === "LoadBalancer")
      .every((service) => listOf(at(service, "status", "loadBalancer", "ingress")).length > 0);
    return nodes && services;
  }
}

function startSidecar({ directory, cloudUrl, providerPort }: Site): Program {
  return new Program({
    source: "providers/simulated/src/sidecar/main.ts",
    args: [`--cloud-url=${cloudUrl}`, "--cloud-call-rate=20:40"],
    env: {
      CLOUD_PROVIDER_ENDPOINT: `unix://${join(directory, "provider.sock")}`,
      CLOUD_PROVIDER_HTTP_ADDRESS: `127.0.0.1:${providerPort}`,
      SIMCLOUD_API_KEY: API_KEY,
    },
  });
}

function startReplica(directory: string): Program {
  return new Program({
    source: "controller/src/main.ts",
    args: [
      `--config=${join(directory, "config.yaml")}`,
      `--kubeconfig=${join(directory, "kubeconfig")}`,
      `--provider=simulated=unix://${join(directory, "provider.sock")}`,
      "--controllers=*,node-ipam-controller,kubelet-serving-csr-approver",
      "--allocate-node-cidrs",
      "--cluster-cidr=10.244.0.0/16",
      "--route-reconciliation-period=1m",
      "--health-bind-address=127.0.0.1:0",
      "--secure-port=0",
      "--logging-format=json",
    ],
  });
}
