import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { AdminClient, CloudClient, spawnCloud } from "@cloudwire/provider-simulated";
import { at, eventually, Kube, Program } from "@cloudwire/test";
import { loopbackNetworks } from "../lib/loopback-networks.ts";
import { Wire } from "../lib/wire.ts";

const API_KEY = "soak-key";
const READY_MS = 60_000;

/** Long enough for a restart of the API server. */
const LEASE = ["--leader-elect-lease-duration=60s", "--leader-elect-renew-deadline=45s"] as const;

interface Parts {
  readonly stack: AsyncDisposableStack;
  readonly directory: string;
  readonly controlPlane: ControlPlane;
  readonly cloudUrl: string;
  readonly apiWire: Wire;
  readonly providerWire: Wire;
}

/** A real control plane, a cloud, and controller and sidecar over wires that can be cut. */
export class Site implements AsyncDisposable {
  readonly kube: Kube;
  readonly cloud: CloudClient;
  readonly admin: AdminClient;
  readonly #parts: Parts;
  #controller: Program | undefined;
  #sidecar: Program | undefined;
  /** What sidecars wrote that have ended. */
  #pastOutput = "";

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.kube = parts.stack.use(new Kube(parts.controlPlane));
    this.cloud = new CloudClient({ url: parts.cloudUrl, apiKey: API_KEY });
    this.admin = new AdminClient({ url: parts.cloudUrl });
  }

  static async start(): Promise<Site> {
    await using stack = new AsyncDisposableStack();
    const directory = await mkdtemp(join(tmpdir(), "cloudwire-soak-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    const controlPlane = stack.use(await startControlPlane());
    const networks = loopbackNetworks(process.pid);
    const cloud = await spawnCloud({ flags: { account: `soak=${API_KEY}`, "listen-port-offset": "0", ...networks } });
    stack.defer(() => cloud.stop("SIGKILL"));
    const { hostname, port } = new URL(controlPlane.server);
    const apiWire = stack.use(await Wire.start({ host: "127.0.0.1", port: 0 }, { host: hostname, port: Number(port) }));
    const providerWire = stack.use(
      await Wire.start({ path: join(directory, "wire.sock") }, { path: join(directory, "provider.sock") }),
    );
    return new Site({ stack: stack.move(), directory, controlPlane, cloudUrl: cloud.url, apiWire, providerWire });
  }

  get controller(): Program {
    return running(this.#controller, "controller");
  }

  get sidecar(): Program {
    return running(this.#sidecar, "sidecar");
  }

  /** Throws, with its last words, when one of them has ended by itself. */
  requireRunning(): void {
    running(this.#controller, "controller");
    running(this.#sidecar, "sidecar");
  }

  /** For samples, which come at any moment: also of one that is just ending. */
  get sidecarPid(): number {
    return this.#sidecar?.pid ?? 0;
  }

  get controllerOutput(): string {
    return this.#controller?.output ?? "";
  }

  get sidecarOutput(): string {
    return this.#pastOutput + (this.#sidecar?.output ?? "");
  }

  /** Of its pages without TLS. */
  async healthUrl(): Promise<string> {
    const [, url = ""] = await this.controller.said(/health=(http:\S+)/, READY_MS);
    return url;
  }

  async startController(): Promise<void> {
    const { controlPlane, apiWire, directory, stack } = this.#parts;
    const { content } = await controlPlane.kubeconfigFor("soak", ["system:masters"]);
    const kubeconfig = join(directory, "kubeconfig");
    await writeFile(kubeconfig, content.replaceAll(controlPlane.server, `https://127.0.0.1:${apiWire.port}`));
    this.#controller = stack.use(
      new Program({
        source: "controller/src/main.ts",
        args: [
          `--kubeconfig=${kubeconfig}`,
          `--provider=simulated=unix://${join(directory, "wire.sock")}`,
          "--health-bind-address=127.0.0.1:0",
          "--secure-port=0",
          ...LEASE,
        ],
      }),
    );
    await this.#controller.said(/Became leader/, READY_MS);
  }

  async startSidecar(): Promise<void> {
    const { cloudUrl, directory, stack } = this.#parts;
    this.#sidecar = stack.use(
      new Program({
        source: "providers/simulated/src/sidecar/main.ts",
        args: [`--cloud-url=${cloudUrl}`],
        env: { CLOUD_PROVIDER_ENDPOINT: `unix://${join(directory, "provider.sock")}`, SIMCLOUD_API_KEY: API_KEY },
      }),
    );
    await this.#sidecar.said(/ready/, READY_MS);
  }

  async restartSidecar(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const old = this.sidecar;
    await old.stop(signal);
    this.#pastOutput += old.output;
    await this.startSidecar();
  }

  cutApiConnections(): void {
    this.#parts.apiWire.cut();
  }

  cutProviderConnection(): void {
    this.#parts.providerWire.cut();
  }

  /** Watches that were open cannot be resumed from where they were: the new server's memory begins later. */
  async restartApiServer(): Promise<void> {
    await this.#parts.controlPlane.restartApiServer();
    await eventually("the API server to answer again", READY_MS, () =>
      this.kube.find("/api/v1/namespaces/default").catch(() => undefined),
    );
  }

  /** Who leads, and how often that has changed. */
  async leadership(): Promise<string> {
    const lease = await this.kube.get(
      "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/cloud-controller-manager",
    );
    const [leader, transitions] = [at(lease, "spec", "holderIdentity"), at(lease, "spec", "leaseTransitions") ?? 0];
    return `${String(leader)}, ${Number(transitions)} changes`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.stack.disposeAsync();
  }
}

function running(program: Program | undefined, name: string): Program {
  if (program === undefined) throw new Error(`the ${name} has not been started`);
  if (!program.running) throw new Error(`the ${name} ended by itself:\n${program.output.slice(-4000)}`);
  return program;
}
