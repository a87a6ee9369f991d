import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ControlPlane } from "@cloudwire/control-plane";
import {
  AdminClient,
  CloudClient,
  type InstanceSpec,
  type LoadBalancer,
  loopbackPools,
  spawnCloud,
  type SpawnedCloud,
} from "@cloudwire/provider-simulated";
import { bundledProgram, type OwnProgram } from "../../../support/bundles.ts";
import { eventually } from "../../../support/eventually.ts";
import { at, type Json, Kube, listOf } from "../../../support/kube.ts";
import { Program, type ProgramOptions } from "../../../support/program.ts";
import { containerProgram, lend, readPod, shareWithContainers } from "./containers.ts";
import { LEASE } from "./lease.ts";
import { controllerKubeconfig } from "./rights.ts";
import { readSidecar, sidecarProgram } from "./sidecars.ts";

export const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";

const CALL_MS = 10_000;
const SOURCES: Readonly<Record<OwnProgram, string>> = {
  "cloudwire-controller-manager": "controller/src/main.ts",
  "cloudwire-provider-simulated": "providers/simulated/src/sidecar/main.ts",
};
/** Of the account that has the machines. */
export const API_KEY = "system-test-key";

export interface ControllerStart {
  /** Default: one with the rights that the manifests grant. */
  readonly kubeconfigPath?: string;
  /** Default: the sidecar at the socket. */
  readonly provider?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Logs what the tests wait for. @default true */
  readonly isVerbose?: boolean;
  /** Of the sources that run. @default this checkout */
  readonly checkout?: string | undefined;
}

export interface SidecarStart {
  /** Default: the key of the account that has the machines. */
  readonly apiKey?: string;
  /** Default: serves at the socket. */
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Of the sources that run. @default this checkout */
  readonly checkout?: string | undefined;
}

export interface HarnessOptions {
  /** Internal addresses of instances. @default in 127.0.0.0/8, where tests can listen, and for which no kubelet gets a certificate */
  readonly instancePool?: string;
  /** Where the programs are as they are shipped; from their sources without it. */
  readonly bundles?: string;
}

interface HarnessParts {
  readonly controlPlane: ControlPlane;
  readonly process: SpawnedCloud;
  readonly directory: string;
  readonly kubeconfigPath: string;
}

/** What a Node has besides. */
export interface NodeParts {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
  /** How long ago it was registered. @default 0 */
  readonly ageMs?: number;
}

/** Nodes younger than a minute are never deleted; no one has to wait that long. */
export const GROWN = { ageMs: 180_000 } as const;

/** A real control plane, a separate cloud, and the two processes of the product, started and ended by the test. */
export class Harness implements AsyncDisposable {
  readonly controlPlane: ControlPlane;
  readonly kube: Kube;
  readonly admin: AdminClient;
  readonly cloud: CloudClient;
  readonly #process: SpawnedCloud;
  readonly #directory: string;
  readonly #bundles: string | undefined;
  readonly #kubeconfigPath: string;
  readonly #programs: Program[] = [];

  constructor(parts: HarnessParts, { bundles }: HarnessOptions = {}) {
    const { controlPlane, process, directory, kubeconfigPath } = parts;
    this.controlPlane = controlPlane;
    this.#kubeconfigPath = kubeconfigPath;
    this.kube = new Kube(controlPlane);
    this.admin = new AdminClient({ url: process.url });
    this.cloud = new CloudClient({ url: process.url, apiKey: API_KEY });
    this.#process = process;
    this.#directory = directory;
    this.#bundles = bundles;
  }

  static async start(controlPlane: ControlPlane, options: HarnessOptions = {}): Promise<Harness> {
    const { loadBalancerPool } = loopbackPools(process.pid);
    const { instancePool } = options;
    const cloud = await spawnCloud({
      flags: {
        account: `system=${API_KEY}`,
        "load-balancer-pool": loadBalancerPool,
        ...(instancePool === undefined ? {} : { "instance-pool": instancePool }),
      },
    });
    const directory = await mkdtemp(join(tmpdir(), "harness-"));
    await shareWithContainers(directory);
    return new Harness(
      { controlPlane, process: cloud, directory, kubeconfigPath: await controllerKubeconfig(controlPlane) },
      options,
    );
  }

  /** Of the cloud's API. */
  get cloudUrl(): string {
    return this.#process.url;
  }

  get socket(): string {
    return join(this.#directory, "provider.sock");
  }

  async startSidecar({ apiKey = API_KEY, env = {}, args = [], checkout }: SidecarStart = {}): Promise<Program> {
    const ofAll = {
      CLOUD_PROVIDER_ENDPOINT: `unix://${this.socket}`,
      SIMCLOUD_URL: this.#process.url,
      SIMCLOUD_API_KEY: apiKey,
      ...env,
    };
    const foreign = sidecarProgram(readSidecar(process.env));
    const program =
      foreign === undefined
        ? this.#start("cloudwire-provider-simulated", { args, env: ofAll }, checkout)
        : this.#add(new Program({ ...foreign, args: [...foreign.args, ...args], env: { ...ofAll, ...foreign.env } }));
    await program.said(/ready/);
    return program;
  }

  startController({
    kubeconfigPath = this.#kubeconfigPath,
    provider = [`--provider=simulated=unix://${this.socket}`],
    args = [],
    env = {},
    isVerbose = true,
    checkout,
  }: ControllerStart = {}): Program {
    const allArgs = [
      `--kubeconfig=${readPod() === undefined ? kubeconfigPath : lend(kubeconfigPath, this.#directory)}`,
      ...provider,
      "--health-bind-address=127.0.0.1:0",
      "--secure-port=0",
      ...(isVerbose ? ["-v=4"] : []),
      ...args,
    ];
    return this.#start("cloudwire-controller-manager", { env, args: allArgs }, checkout);
  }

  /** Machines in the cloud, running. */
  async createMachines(specs: readonly InstanceSpec[]): Promise<void> {
    await this.cloud.createInstances(specs, AbortSignal.timeout(CALL_MS));
  }

  async loadBalancers(): Promise<readonly LoadBalancer[]> {
    const page = await this.cloud.listLoadBalancers({ pageSize: 500, consistent: true }, AbortSignal.timeout(CALL_MS));
    return page.items;
  }

  /** Names of the machines that the load balancer forwards to, sorted. */
  async targetNames(loadBalancerId: string): Promise<readonly string[]> {
    const signal = AbortSignal.timeout(CALL_MS);
    const targets = await this.cloud.targets(loadBalancerId, signal);
    const ids = targets.map((target) => target.instanceId);
    const { items } = await this.cloud.listInstances({ pageSize: 1000, consistent: true }, signal);
    return items
      .filter(({ id }) => ids.includes(id))
      .map(({ name }) => name)
      .toSorted();
  }

  /** Waits until a call of the operation is being worked on by the cloud. */
  async inFlight(operation: string): Promise<void> {
    await eventually(`${operation} to be in flight`, 20_000, async () => {
      const { operations } = await this.admin.calls();
      return operations.some((counted) => counted.operation === operation && counted.inFlight > 0) ? true : undefined;
    });
  }

  /** A Node as a kubelet with --cloud-provider=external registers it, without the kubelet. */
  async registerNode(name: string, { ageMs = 0, labels, annotations = {}, spec }: NodeParts = {}): Promise<void> {
    const node = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, annotations, labels: { "kubernetes.io/hostname": name, ...labels } },
      spec: { taints: [{ key: UNINITIALIZED, value: "true", effect: "NoSchedule" }], ...spec },
    };
    if (ageMs === 0) await this.kube.create("/api/v1/nodes", node);
    else await this.controlPlane.addNode(node, ageMs);
  }

  /** What a kubelet says of its Node, or the control plane of one that has fallen silent; of a Node that is gone nothing. */
  async reportReady(name: string, status: "True" | "False" | "Unknown"): Promise<void> {
    const now = new Date().toISOString();
    const condition = { type: "Ready", status, reason: "Test", lastHeartbeatTime: now, lastTransitionTime: now };
    const { status: code } = await this.kube.send("PATCH", `/api/v1/nodes/${name}/status`, {
      status: { conditions: [condition] },
    });
    if (code !== 200 && code !== 404) throw new Error(`node ${name} could not be reported ${status}: ${code}`);
  }

  async initialized(name: string, timeoutMs = 30_000): Promise<Json> {
    return eventually(
      `node ${name} to be initialized`,
      timeoutMs,
      async () => {
        const node = await this.kube.find(`/api/v1/nodes/${name}`);
        return node !== undefined && !isTainted(node) && at(node, "spec", "providerID") !== undefined
          ? node
          : undefined;
      },
      () => this.outputs(),
    );
  }

  /** The Service once it has an address. */
  async addressed(name: string, timeoutMs = 30_000): Promise<string> {
    return eventually(
      `service ${name} to have an address`,
      timeoutMs,
      async () => {
        const service = await this.kube.get(`/api/v1/namespaces/default/services/${name}`);
        const ip = at(service, "status", "loadBalancer", "ingress", 0, "ip");
        return typeof ip === "string" ? ip : undefined;
      },
      () => this.outputs(),
    );
  }

  async createService(name: string, port: number, spec: object = {}): Promise<Json> {
    return this.kube.create("/api/v1/namespaces/default/services", {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name },
      spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ port, protocol: "TCP" }], ...spec },
    });
  }

  /** Reasons of the events about an object, in the order of their first time. */
  async eventReasons(kind: string, name: string): Promise<readonly string[]> {
    const events = await this.kube.items(
      `/api/v1/events?fieldSelector=involvedObject.kind=${kind},involvedObject.name=${name}`,
    );
    return events
      .toSorted((left, right) =>
        String(at(left, "metadata", "creationTimestamp")).localeCompare(
          String(at(right, "metadata", "creationTimestamp")),
        ),
      )
      .map((event) => String(event["reason"]));
  }

  /** Waits until there is an event of each reason about an object; events are written after the change that they report. */
  async hasEvents(kind: string, name: string, ...reasons: readonly string[]): Promise<void> {
    await eventually(`events ${reasons.join(", ")} of ${kind} ${name}`, 30_000, async () => {
      const seen = await this.eventReasons(kind, name);
      return reasons.every((reason) => seen.includes(reason)) ? true : undefined;
    });
  }

  /** One series of the controller's metrics; 0 when it has none yet. */
  async metric(controller: Program, series: RegExp): Promise<number> {
    const [, url] = await controller.said(/health=(http:\S+)/);
    const text = await (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(CALL_MS) })).text();
    return text
      .split("\n")
      .filter((line) => !line.startsWith("#") && series.test(line))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  }

  /** What the programs wrote, for the message of a test that fails. */
  outputs(): string {
    return this.#programs.map(({ output }) => output).join("\n----\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#programs.map((program) => program[Symbol.asyncDispose]()));
    await this.#removeObjects();
    await this.#process.stop("SIGKILL");
    this.kube[Symbol.dispose]();
    await rm(this.#directory, { recursive: true, force: true });
  }

  #start(name: OwnProgram, { args, env }: Required<Pick<ProgramOptions, "args" | "env">>, checkout?: string): Program {
    if (checkout !== undefined) {
      const source = join(checkout, SOURCES[name]);
      const command = process.execPath;
      return this.#add(new Program({ command, args: ["--conditions=development", source, ...args], env }));
    }
    const pod = readPod();
    if (pod !== undefined) return this.#add(new Program(containerProgram(pod, name, { args, env })));
    return this.#add(
      new Program(
        this.#bundles === undefined
          ? { source: SOURCES[name], args, env }
          : { command: process.execPath, args: [bundledProgram(this.#bundles, name), ...args], env },
      ),
    );
  }

  #add(program: Program): Program {
    this.#programs.push(program);
    return program;
  }

  /** Leaves the control plane as it was: the next harness of the same file begins with an empty one. */
  async #removeObjects(): Promise<void> {
    const services = await this.kube.items("/api/v1/services");
    for (const service of services) {
      const name = String(at(service, "metadata", "name"));
      if (name === "kubernetes") continue;
      const path = `/api/v1/namespaces/${String(at(service, "metadata", "namespace"))}/services/${name}`;
      await this.kube.send("PATCH", `${path}/status`, { metadata: { finalizers: null } });
      await this.kube.send("DELETE", path);
    }
    await this.kube.send("DELETE", "/api/v1/nodes");
    await this.kube.send("DELETE", LEASE);
    await this.kube.send("DELETE", "/api/v1/namespaces/default/events");
  }
}

function isTainted(node: Json): boolean {
  return listOf(at(node, "spec", "taints")).some((taint) => taint["key"] === UNINITIALIZED);
}
