import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { eventually } from "../../../support/eventually.ts";
import { at, type Json, Kube, listOf } from "../../../support/kube.ts";
import { Program } from "../../../support/program.ts";
import type { EmulatedMachine } from "./emulated-cloud.ts";

/** As long as a first build of Kubernetes may take on a slow machine. */
export const BUILD_MS = 60 * 60_000;

const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";
const SERVICES = "/api/v1/namespaces/default/services";
const CALL_MS = 10_000;
const PATIENCE_MS = 60_000;

/** Nodes younger than a minute are never removed, nor those that are younger than their cloud's reads may lag: two minutes at AWS. */
const NODE_AGE_MS = 180_000;

/** Whatever is not on loopback meets a port that no one listens at: a mistake must not reach a real cloud. */
const NOWHERE = "http://127.0.0.1:9";

export interface BridgedSidecar {
  /** Of its main package, below test/programs/bridged; the program has the same name. */
  readonly name: "aws" | "gcp" | "fake";
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A cluster with the whole controller and a vendor's provider behind the bridge. */
export class BridgedHarness implements AsyncDisposable {
  readonly controlPlane: ControlPlane;
  readonly kube: Kube;
  /** Files of a test go here. */
  readonly directory: string;
  readonly #programs: Program[] = [];

  private constructor(controlPlane: ControlPlane, directory: string) {
    this.controlPlane = controlPlane;
    this.kube = new Kube(controlPlane);
    this.directory = directory;
  }

  static async start(): Promise<BridgedHarness> {
    await buildControlPlane();
    const directory = await mkdtemp(join(tmpdir(), "bridged-"));
    return new BridgedHarness(await startControlPlane(), directory);
  }

  async startSidecar({ name, args = [], env }: BridgedSidecar): Promise<Program> {
    const sidecar = this.run({
      command: inTree(`test/programs/bridged/${name}/bin/provider-${name}`),
      args,
      env: {
        CLOUD_PROVIDER_ENDPOINT: `unix://${this.#socket}`,
        HTTP_PROXY: NOWHERE,
        HTTPS_PROXY: NOWHERE,
        NO_PROXY: "127.0.0.1",
        ...env,
      },
    });
    await sidecar.said(/ready/i);
    return sidecar;
  }

  startController(name: string, ...args: readonly string[]): Program {
    return this.run({
      source: "controller/src/main.ts",
      args: [
        `--kubeconfig=${this.controlPlane.kubeconfigPath}`,
        `--provider=${name}=unix://${this.#socket}`,
        "--health-bind-address=127.0.0.1:0",
        "--secure-port=0",
        "--leader-elect=false",
        "-v=4",
        ...args,
      ],
    });
  }

  /** It ends with this harness. */
  run(options: ConstructorParameters<typeof Program>[0]): Program {
    const program = new Program(options);
    this.#programs.push(program);
    return program;
  }

  /** A Node as a kubelet with --cloud-provider=external has registered it a while ago, without the kubelet: it is never ready. */
  async registerNode({ name }: EmulatedMachine, podCIDR?: string): Promise<void> {
    const ranges = podCIDR === undefined ? {} : { podCIDR, podCIDRs: [podCIDR] };
    const taints = [{ key: UNINITIALIZED, value: "true", effect: "NoSchedule" }];
    const metadata = { name, labels: { "kubernetes.io/hostname": name } };
    await this.controlPlane.addNode({ metadata, spec: { ...ranges, taints } }, NODE_AGE_MS);
  }

  async initialized(name: string): Promise<Json> {
    return this.eventually(`node ${name} to be initialized`, async () => {
      const node = await this.kube.get(`/api/v1/nodes/${name}`);
      const taints = listOf(at(node, "spec", "taints")).map(({ key }) => key);
      return taints.includes(UNINITIALIZED) ? undefined : node;
    });
  }

  async createService(name: string, annotations: Readonly<Record<string, string>> = {}): Promise<Json> {
    return this.kube.create(SERVICES, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, annotations },
      spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ port: 80, protocol: "TCP" }] },
    });
  }

  /** The Service's first address, once it has one. */
  async addressed(name: string): Promise<Json> {
    return this.eventually(`service ${name} to have an address`, async () => {
      const service = await this.kube.get(`${SERVICES}/${name}`);
      return listOf(at(service, "status", "loadBalancer", "ingress"))[0];
    });
  }

  async deleteService(name: string): Promise<void> {
    await this.kube.delete(`${SERVICES}/${name}`);
    await this.eventually(`service ${name} to be gone`, async () =>
      (await this.kube.find(`${SERVICES}/${name}`)) === undefined ? true : undefined,
    );
  }

  async nodeNames(): Promise<readonly string[]> {
    const nodes = await this.kube.items("/api/v1/nodes");
    return nodes.map((node) => String(at(node, "metadata", "name"))).toSorted();
  }

  /** Waits until a controller that has just been started has looked at both Nodes, at their routes and at the one Service. */
  async settled(controller: Program): Promise<void> {
    const looks = { "cloud-node-controller": 2, "node-route-controller": 3, "service-lb-controller": 1 };
    for (const [name, least] of Object.entries(looks)) {
      const looked = new RegExp(
        `^cloudwire_reconciles_total\\{controller="${name}",result="(?!error|retry_after|terminal_error)`,
      );
      await this.eventually(`${name} to have looked at everything`, async () =>
        (await this.metric(controller, looked)) >= least ? true : undefined,
      );
    }
  }

  /** The sum of the series of the controller's metrics. */
  async metric(controller: Program, series: RegExp): Promise<number> {
    const [, url] = await controller.said(/health=(http:\S+)/);
    const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(CALL_MS) });
    const lines = (await response.text()).split("\n").filter((line) => series.test(line));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  }

  /** Waits until it is so. */
  async becomes<T>(what: string, ask: () => Promise<T>, wanted: T): Promise<void> {
    const text = JSON.stringify(wanted);
    await this.eventually(`${what} to be ${text}`, async () =>
      JSON.stringify(await ask()) === text ? true : undefined,
    );
  }

  /** Why the Node's network is as it is, once its route is there or not. */
  async networkReason(name: string): Promise<unknown> {
    return this.eventually(`node ${name} to report its route`, async () => {
      const conditions = listOf(at(await this.kube.get(`/api/v1/nodes/${name}`), "status", "conditions"));
      return conditions.find(({ type }) => type === "NetworkUnavailable")?.["reason"];
    });
  }

  /** Waits for it; what the programs wrote is part of the failure. */
  async eventually<T>(
    what: string,
    ask: () => T | undefined | Promise<T | undefined>,
    timeoutMs = PATIENCE_MS,
  ): Promise<T> {
    return eventually(what, timeoutMs, ask, () =>
      this.#programs.map(({ output }) => output.slice(-8000)).join("\n----\n"),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#programs.map((program) => program[Symbol.asyncDispose]()));
    this.kube[Symbol.dispose]();
    await this.controlPlane.stop();
    await rm(this.directory, { recursive: true, force: true });
  }

  get #socket(): string {
    return join(this.directory, "provider.sock");
  }
}

export function inTree(path: string): string {
  return fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
}
