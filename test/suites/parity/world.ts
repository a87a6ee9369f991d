import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AuditEvent, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { AdminClient, CloudClient, loopbackPools, spawnCloud, type SpawnedCloud } from "@cloudwire/provider-simulated";
import { at, type Json, Kube } from "../../support/kube.ts";
import type { Credentials } from "../../support/secure-page.ts";
import type { Program } from "../../support/program.ts";
import { type CloudCall, CloudProxy } from "./peers/cloud-proxy.ts";
import type { Peer, PeerFlags } from "./peers/peer.ts";

const API_KEY = "parity-key";

/** Ranges of Services, both families: dual-stack Services are among the scenarios. */
const SERVICE_CIDRS = ["10.96.0.0/16", "fd00:96::/112"] as const;

/** How much of the audit log is a write of the controllers: what says how they work, and no election. */
const WRITES = new Set(["create", "update", "patch", "delete"]);

/** The whole log is read each time, and all scenarios of a batch ask. */
const AUDIT_AGE_MS = 500;

/** Likewise the page of metrics. */
const EVENTS_WAIT_AGE_MS = 500;

interface Parts {
  readonly peer: Peer;
  readonly controlPlane: ControlPlane;
  readonly cloudProcess: SpawnedCloud;
  readonly proxy: CloudProxy;
  readonly directory: string;
  readonly kubeconfigPath: string;
  readonly clusterId: string;
}

function isAnswered({ stage, verb }: AuditEvent): boolean {
  return WRITES.has(verb) && stage === "ResponseComplete";
}

/** Programs beside those of the peer. */
export class Guest implements AsyncDisposable {
  readonly user: string;
  readonly #programs: readonly Program[];
  readonly #proxy: CloudProxy;
  readonly #allWrites: () => Promise<readonly AuditEvent[]>;

  constructor(
    user: string,
    programs: readonly Program[],
    proxy: CloudProxy,
    allWrites: () => Promise<readonly AuditEvent[]>,
  ) {
    this.user = user;
    this.#programs = programs;
    this.#proxy = proxy;
    this.#allWrites = allWrites;
  }

  /** What it asked the API server to write, refused or not. */
  async writes(): Promise<readonly AuditEvent[]> {
    return (await this.#allWrites()).filter(({ user }) => user === this.user);
  }

  /** Its calls that change the cloud. */
  get cloudChanges(): readonly CloudCall[] {
    return this.#proxy.calls.filter(({ method, path }) => method !== "GET" && !path.endsWith("/lookup"));
  }

  get output(): string {
    return this.#programs.map(({ output }) => output).join("\n----\n");
  }

  async stop(): Promise<void> {
    for (const program of this.#programs.toReversed()) await program.stop("SIGTERM");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#programs.map((program) => program[Symbol.asyncDispose]()));
    await this.#proxy[Symbol.asyncDispose]();
  }
}

/** A real API server and a cloud, for one of the two implementations alone. */
export class ParityWorld implements AsyncDisposable {
  readonly peer: Peer["name"];
  readonly kube: Kube;
  readonly cloud: CloudClient;
  readonly admin: AdminClient;
  readonly clusterId: string;
  readonly #parts: Parts;
  #programs: readonly Program[] = [];
  #output = "";
  #auditReadMs = Number.NEGATIVE_INFINITY;
  #writes: Promise<readonly AuditEvent[]> = Promise.resolve([]);
  #eventsAskedMs = Number.NEGATIVE_INFINITY;
  #eventsWait = Promise.resolve(false);

  constructor(parts: Parts, kube: Kube) {
    this.#parts = parts;
    this.peer = parts.peer.name;
    this.clusterId = parts.clusterId;
    this.kube = kube;
    this.admin = new AdminClient({ url: parts.cloudProcess.url });
    this.cloud = new CloudClient({ url: parts.cloudProcess.url, apiKey: API_KEY });
  }

  /**
   * @param poolKey worlds with different ones can be at the same time
   * @param guests users beside the peer, see {@link guest}
   */
  static async start(peer: Peer, poolKey: number, guests: readonly string[] = []): Promise<ParityWorld> {
    const pools = loopbackPools(poolKey);
    const [controlPlane, cloudProcess, directory] = await Promise.all([
      startControlPlane({ audit: { users: [peer.name, ...guests], level: "Metadata" }, serviceCidrs: SERVICE_CIDRS }),
      spawnCloud({
        flags: {
          account: `parity=${API_KEY}`,
          "instance-pool": pools.instancePool,
          "load-balancer-pool": pools.loadBalancerPool,
          "listen-port-offset": "0",
        },
      }),
      mkdtemp(join(tmpdir(), "cloudwire-parity-")),
    ]);
    const kube = new Kube(controlPlane);
    const clusterId = String(at(await kube.get("/api/v1/namespaces/kube-system"), "metadata", "uid"));
    const { path: kubeconfigPath } = await controlPlane.kubeconfigFor(peer.name, ["system:masters"]);
    const proxy = await CloudProxy.start(cloudProcess.url);
    return new ParityWorld({ peer, controlPlane, cloudProcess, proxy, directory, kubeconfigPath, clusterId }, kube);
  }

  async startPrograms(flags: PeerFlags): Promise<void> {
    const { peer, kubeconfigPath, proxy, clusterId, directory } = this.#parts;
    const site = { kubeconfigPath, cloudUrl: proxy.url, apiKey: API_KEY, clusterId, directory };
    this.#programs = await peer.start(site, flags);
  }

  async stopPrograms(): Promise<void> {
    const programs = this.#programs.toReversed();
    this.#programs = [];
    for (const program of programs) {
      await program.stop("SIGTERM");
      this.#output += `${program.output}\n----\n`;
    }
  }

  /** Starts the programs of another one beside the peer's, with a user, a view of the cloud and sockets of its own. */
  async guest(peer: Peer, user: string, groups: readonly string[], flags: PeerFlags): Promise<Guest> {
    const { controlPlane, cloudProcess, directory: parent, clusterId } = this.#parts;
    const { path: kubeconfigPath } = await controlPlane.kubeconfigFor(user, groups);
    const proxy = await CloudProxy.start(cloudProcess.url);
    const directory = await mkdtemp(join(parent, `${user}-`));
    const programs = await peer.start(
      { kubeconfigPath, cloudUrl: proxy.url, apiKey: API_KEY, clusterId, directory },
      flags,
    );
    return new Guest(user, programs, proxy, async () => (await controlPlane.auditEvents()).filter(isAnswered));
  }

  /** Gives the objects that follow to the API server, as an administrator does. */
  async apply(items: readonly unknown[]): Promise<void> {
    await this.#parts.controlPlane.kubectl(["apply", "-f", "-"], {
      input: JSON.stringify({ apiVersion: "v1", kind: "List", items }),
    });
  }

  /** What a user comes to a page with. */
  async certificateFor(user: string, groups: readonly string[]): Promise<Credentials> {
    const { client } = await this.#parts.controlPlane.kubeconfigFor(user, groups);
    return { certificate: client.certificate, key: client.key };
  }

  /** What the controllers wrote to the API server, in order; also what was refused. Up to half a second old. */
  async writes(): Promise<readonly AuditEvent[]> {
    const nowMs = performance.now();
    if (nowMs - this.#auditReadMs > AUDIT_AGE_MS) {
      this.#auditReadMs = nowMs;
      this.#writes = this.#readWrites();
    }
    return this.#writes;
  }

  async #readWrites(): Promise<readonly AuditEvent[]> {
    const events = await this.#parts.controlPlane.auditEvents();
    return events.filter(
      ({ verb, resource, stage }) => WRITES.has(verb) && resource !== "leases" && stage === "ResponseComplete",
    );
  }

  get cloudCalls(): readonly CloudCall[] {
    return this.#parts.proxy.calls;
  }

  async events(): Promise<readonly Json[]> {
    return this.kube.items("/api/v1/events");
  }

  /** Whether events have been recorded that {@link events} does not show yet. Up to half a second old. */
  async eventsWait(): Promise<boolean> {
    const nowMs = performance.now();
    if (nowMs - this.#eventsAskedMs > EVENTS_WAIT_AGE_MS) {
      this.#eventsAskedMs = nowMs;
      this.#eventsWait = this.#parts.peer.eventsWait(this.#programs);
    }
    return await this.#eventsWait;
  }

  /** Whether all programs are as they were started; a controller that ends by itself is a finding. */
  requireRunning(): void {
    const ended = this.#programs.find((program) => !program.running);
    if (ended !== undefined)
      throw new Error(`a program of ${this.peer} ended by itself:\n${ended.output.slice(-8000)}`);
  }

  /** What the programs wrote. */
  get output(): string {
    return [this.#output, ...this.#programs.map(({ output }) => output)].join("\n----\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#programs.map((program) => program[Symbol.asyncDispose]()));
    await this.#parts.proxy[Symbol.asyncDispose]();
    await this.#parts.cloudProcess.stop("SIGKILL");
    this.kube[Symbol.dispose]();
    await this.#parts.controlPlane.stop();
    await rm(this.#parts.directory, { recursive: true, force: true });
  }
}
