import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { AdminClient, CloudClient, type Instance, type LoadBalancer, spawnCloud } from "@cloudwire/provider-simulated";
import { at, inParallel, type Json, Kube, listOf, numbered, type Program, ReadyMachines } from "@cloudwire/test";
import { loopbackNetworks } from "../lib/loopback-networks.ts";
import { nodeObject } from "../lib/node-object.ts";
import { readProcessUsage } from "../lib/process-usage.ts";
import type { Peer, PeerSite } from "./peers.ts";
import { SERVICE_ACCOUNT_USER, serviceAccountKubeconfig } from "./service-account.ts";

const API_KEY = "bench-key";
const CALL_MS = 120_000;
const LOOK_MS = 100;
const SERVICES = "/api/v1/namespaces/default/services";
const LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/cloud-controller-manager";
const PORT = 8080;

/** Calls of the cloud take this long, those about load balancers longer. */
const LATENCY = {
  "*": { fixedMs: 50, jitterMs: 0 },
  "loadBalancers.*": { fixedMs: 500, jitterMs: 0 },
} as const;

const WRITES = new Set(["create", "update", "patch", "delete"]);

/** What a peer has done and used since the measuring began. */
export interface Counts {
  readonly cpuSeconds: number;
  /** Of its first program, the controller. */
  readonly controllerRssBytes: number;
  readonly rssBytes: number;
  readonly peakRssBytes: number;
  readonly cloudCalls: number;
  readonly cloudChanges: number;
  /** Without events and leases. */
  readonly apiWrites: number;
  readonly events: number;
}

interface Parts {
  readonly stack: AsyncDisposableStack;
  readonly controlPlane: ControlPlane;
  readonly folder: string;
  readonly cloudUrl: string;
  readonly kubeconfigPath: string;
  readonly kube: Kube;
  readonly signal: AbortSignal;
}

/** A real API server and a cloud for one peer and one scenario; nothing of it is used again. */
export class Stage implements AsyncDisposable, PeerSite {
  readonly kube: Kube;
  readonly cloudUrl: string;
  readonly kubeconfigPath: string;
  readonly folder: string;
  readonly apiKey = API_KEY;
  readonly machines: Instance[] = [];
  readonly #parts: Parts;
  readonly #cloud: CloudClient;
  readonly #admin: AdminClient;
  #clusterId = "";
  #programs: readonly Program[] = [];
  #ownCalls = 0;
  #ownChanges = 0;
  #cpuBefore = 0;
  #fromMs = 0;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.folder = parts.folder;
    this.cloudUrl = parts.cloudUrl;
    this.kubeconfigPath = parts.kubeconfigPath;
    this.kube = parts.kube;
    this.#admin = new AdminClient({ url: parts.cloudUrl });
    this.#cloud = new CloudClient({
      url: parts.cloudUrl,
      apiKey: API_KEY,
      observe: ({ mutation }) => {
        this.#ownCalls += 1;
        if (mutation) this.#ownChanges += 1;
      },
    });
  }

  /** @param signal ends every wait on this stage */
  static async start(signal: AbortSignal): Promise<Stage> {
    await using stack = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), "cloudwire-bench-"));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const controlPlane = stack.use(
      await startControlPlane({ audit: { users: [SERVICE_ACCOUNT_USER], level: "Metadata" } }),
    );
    const flags = { account: `bench=${API_KEY}`, "listen-port-offset": "0", ...loopbackNetworks(process.pid) };
    const cloud = await spawnCloud({ flags });
    stack.defer(() => cloud.stop("SIGKILL"));
    const kube = stack.use(new Kube(controlPlane));
    const kubeconfigPath = await serviceAccountKubeconfig(kube, controlPlane, folder);
    const parts = { stack: stack.move(), controlPlane, folder, cloudUrl: cloud.url, kubeconfigPath, kube, signal };
    const stage = new Stage(parts);
    const system = await stage.kube.get("/api/v1/namespaces/kube-system");
    stage.#clusterId = String(at(system, "metadata", "uid"));
    await stage.#admin.change({ latency: LATENCY });
    return stage;
  }

  get clusterId(): string {
    return this.#clusterId;
  }

  /** Machines and Nodes that wait for a cloud controller. */
  async addNodes(prefix: string, count: number, pauseMs = 0): Promise<void> {
    const specs = numbered(prefix, count).map((name, index) => ({
      name,
      zone: index % 2 === 0 ? "north-a" : "south-a",
    }));
    this.machines.push(...(await this.#cloud.createInstances(specs, AbortSignal.timeout(CALL_MS))));
    if (pauseMs === 0) {
      await inParallel(specs, async ({ name }) => void (await this.kube.create("/api/v1/nodes", nodeObject(name))));
      return;
    }
    for (const { name } of specs) {
      await this.kube.create("/api/v1/nodes", nodeObject(name));
      await this.pass(pauseMs);
    }
  }

  /** Machines and Nodes that a cloud controller has nothing to do for. */
  async addReadyNodes(count: number): Promise<void> {
    await new ReadyMachines({ kube: this.kube, cloud: this.#cloud }).join(numbered("ready", count));
  }

  async addServices(count: number): Promise<void> {
    await inParallel(numbered("web", count), async (name) => {
      await this.kube.create(SERVICES, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name },
        spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ port: PORT, protocol: "TCP" }] },
      });
    });
  }

  async startPeer(peer: Peer): Promise<void> {
    this.#programs = await peer.start(this);
  }

  async stopPeer(): Promise<void> {
    await Promise.all(this.#programs.map((program) => program.stop("SIGTERM")));
    this.#programs = [];
  }

  async removeLease(): Promise<void> {
    await this.kube.send("DELETE", LEASE);
  }

  /** Every Node has what a cloud controller gives it. */
  async nodesInitialised(timeoutMs: number): Promise<void> {
    // A Node's zone comes in the same write as the end of its taint; asking for those without one is cheap.
    const path = "/api/v1/nodes?limit=1&labelSelector=!topology.kubernetes.io/zone";
    await this.until("all nodes to be initialised", timeoutMs, async () => (await this.kube.items(path)).length === 0);
    const nodes = await this.kube.items("/api/v1/nodes");
    const left = nodes.filter((node) => listOf(at(node, "spec", "taints")).length > 0);
    if (left.length > 0) throw new Error(`${left.length} nodes have a zone and still a taint`);
  }

  async servicesAddressed(count: number, timeoutMs: number): Promise<void> {
    const isAddressed = (service: Json): boolean => at(service, "status", "loadBalancer", "ingress", 0) !== undefined;
    await this.until(`${count} Services to have addresses`, timeoutMs, async () => {
      return (await this.kube.items(SERVICES)).filter(isAddressed).length === count;
    });
  }

  async loadBalancers(): Promise<readonly LoadBalancer[]> {
    const signal = AbortSignal.timeout(CALL_MS);
    return (await this.#cloud.listLoadBalancers({ pageSize: 1000, consistent: true }, signal)).items;
  }

  /** Waits until the peer has asked the cloud nothing for so long; answers when it last did. */
  async cloudLeftAlone(quietMs: number, timeoutMs: number): Promise<number> {
    let [calls, lastMs] = [-1, performance.now()];
    await this.until("the cloud to be left alone", timeoutMs, async () => {
      const { operations } = await this.#admin.calls();
      // A request that waits for changes comes back when there are none, too.
      const asked = operations.filter(({ operation }) => operation !== "events.list");
      const now = asked.reduce((sum, operation) => sum + operation.calls, 0);
      if (now !== calls) [calls, lastMs] = [now, performance.now()];
      return performance.now() - lastMs > quietMs && calls > 0;
    });
    return lastMs;
  }

  /** What happened so far does not count. */
  async fromHere(): Promise<void> {
    await this.#admin.resetCalls();
    [this.#ownCalls, this.#ownChanges] = [0, 0];
    this.#cpuBefore = (await this.#usages()).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
    this.#fromMs = Date.now();
  }

  async counts(): Promise<Counts> {
    const usages = await this.#usages();
    const sum = (of: (usage: (typeof usages)[number]) => number): number =>
      usages.reduce((total, usage) => total + of(usage), 0);
    const { total, mutating } = await this.#admin.calls();
    const events = (await this.#parts.controlPlane.auditEvents()).filter(
      ({ verb, resource, stage, receivedAt }) =>
        WRITES.has(verb) &&
        resource !== "leases" &&
        stage === "ResponseComplete" &&
        Date.parse(receivedAt) >= this.#fromMs,
    );
    const writes = events.filter(({ resource }) => resource !== "events").length;
    return {
      cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds) - this.#cpuBefore,
      controllerRssBytes: usages[0]?.rssBytes ?? 0,
      rssBytes: sum(({ rssBytes }) => rssBytes),
      peakRssBytes: sum(({ peakRssBytes }) => peakRssBytes),
      cloudCalls: total - this.#ownCalls,
      cloudChanges: mutating - this.#ownChanges,
      apiWrites: writes,
      events: events.length - writes,
    };
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    const { signal } = this.#parts;
    await wait(ms, undefined, { signal });
  }

  /** Asks until it holds; fails at once when a program of the peer has ended. */
  async until(what: string, timeoutMs: number, holds: () => Promise<boolean>): Promise<void> {
    const endMs = performance.now() + timeoutMs;
    while (!(await holds())) {
      const ended = this.#programs.find((program) => !program.running);
      if (ended !== undefined) throw new Error(`a program ended by itself:\n${ended.output.slice(-4000)}`);
      if (performance.now() > endMs) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
      await this.pass(LOOK_MS);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#programs.map((program) => program[Symbol.asyncDispose]()));
    await this.#parts.stack.disposeAsync();
  }

  #usages() {
    return Promise.all(this.#programs.map(({ pid }) => readProcessUsage(pid)));
  }
}
