import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { AdminClient, CloudClient, type Instance, spawnCloud } from "@cloudwire/provider-simulated";
import { at, inParallel, type Json, Kube, numbered } from "@cloudwire/test";
import { loopbackNetworks } from "../../lib/loopback-networks.ts";
import { nodeObject, readyNodeObject, silentConditions } from "../../lib/node-object.ts";
import { seededRandom } from "../../lib/random.ts";
import { readTreeUsage, sumOfUsages } from "../../lib/process.ts";
import { type Counts, type Done, type Reaction, countWrites, readEventLoopP99Ms } from "./observations.ts";
import { HealthProbe } from "./health-probe.ts";
import { areDone, countTainted, makeMachines } from "./objects.ts";
import type { Peer, PeerSite, Running } from "../peers/peers.ts";
import { SERVICE_ACCOUNT_USER, serviceAccountAccess, type ServiceAccountAccess } from "./service-account.ts";

const API_KEY = "bench-key";
const CALL_MS = 120_000;
/** Upstream with its defaults initializes not quite seven nodes a second. */
const WORK_MS = 3_600_000;
/** To come to rest; upstream reads 5,000 nodes one after the other first. */
const REST_MS = 900_000;
const LOOK_MS = 100;
/** The response of this request is large. */
const ASKED_LOOK_MS = 500;
const ZONE = "topology.kubernetes.io/zone";
const SERVICE_PREFIX = "web";
const SERVICES = "/api/v1/namespaces/default/services";
const LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/cloud-controller-manager";
const PORT = 8080;

/** Calls of the cloud take this long, those about load balancers longer; while the stage is being set, nothing does. */
const LATENCY = {
  "*": { fixedMs: 50, jitterMs: 0 },
  "loadBalancers.*": { fixedMs: 500, jitterMs: 0 },
} as const;

export interface StageOptions {
  /** Ends every wait. */
  readonly signal: AbortSignal;
  /** A work that takes longer is left as it is. */
  readonly patienceMs: number;
  /** For the peer's controller. */
  readonly flags: readonly string[];
}

interface Work {
  readonly what: string;
  readonly isDone: () => Promise<boolean>;
  /** Read when the timeout ends. */
  readonly share: () => Promise<number>;
  readonly lookMs?: number;
}

interface Parts extends StageOptions {
  readonly stack: AsyncDisposableStack;
  readonly controlPlane: ControlPlane;
  readonly kube: Kube;
  readonly access: ServiceAccountAccess;
  readonly directory: string;
  readonly cloudUrl: string;
}

/** A real API server and a cloud for one peer and one scenario; nothing of it is used again. */
export class Stage implements AsyncDisposable, PeerSite {
  readonly kube: Kube;
  readonly cloudUrl: string;
  readonly kubeconfigPath: string;
  readonly api: PeerSite["api"];
  readonly directory: string;
  readonly apiKey = API_KEY;
  readonly machines: Instance[] = [];
  readonly #parts: Parts;
  readonly #cloud: CloudClient;
  readonly #admin: AdminClient;
  #clusterId = "";
  #loadBalancerCallsAtOnce: number | undefined;
  #running: Running = { programs: [] };
  #probe: HealthProbe | undefined;
  #reaction: Reaction | undefined;
  readonly #random = seededRandom(1);
  #ownCalls = 0;
  #ownChanges = 0;
  #cpuBefore = 0;
  /** Since 1970; 0 while the stage is being set. */
  #fromMs = 0;
  /** As performance.now(). */
  #startMs = 0;
  /** As performance.now(); without end while the stage is being set. */
  #patienceEndsMs = Number.POSITIVE_INFINITY;

  private constructor(parts: Parts) {
    const { controlPlane, kube, access, directory, cloudUrl } = parts;
    this.#parts = parts;
    this.directory = directory;
    this.cloudUrl = cloudUrl;
    this.kubeconfigPath = access.kubeconfigPath;
    this.api = { server: controlPlane.server, caPem: controlPlane.caPem, token: access.token };
    this.kube = kube;
    this.#admin = new AdminClient({ url: cloudUrl });
    this.#cloud = new CloudClient({
      url: cloudUrl,
      apiKey: API_KEY,
      observe: ({ mutation }) => {
        this.#ownCalls += 1;
        if (mutation) this.#ownChanges += 1;
      },
    });
  }

  static async start(options: StageOptions): Promise<Stage> {
    await using stack = new AsyncDisposableStack();
    const directory = await mkdtemp(join(tmpdir(), "cloudwire-bench-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    const controlPlane = stack.use(
      await startControlPlane({ audit: { users: [SERVICE_ACCOUNT_USER], level: "Metadata" } }),
    );
    const flags = { account: `bench=${API_KEY}`, "listen-port-offset": "0", ...loopbackNetworks(process.pid) };
    const cloud = await spawnCloud({ flags });
    stack.defer(() => cloud.stop("SIGKILL"));
    const kube = stack.use(new Kube(controlPlane));
    const access = await serviceAccountAccess(kube, controlPlane, directory);
    const parts = { ...options, controlPlane, kube, access, directory, cloudUrl: cloud.url };
    const stage = new Stage({ ...parts, stack: stack.move() });
    const system = await stage.kube.get("/api/v1/namespaces/kube-system");
    stage.#clusterId = String(at(system, "metadata", "uid"));
    return stage;
  }

  get clusterId(): string {
    return this.#clusterId;
  }

  get loadBalancerCallsAtOnce(): number | undefined {
    return this.#loadBalancerCallsAtOnce;
  }

  /** The cloud queues further load balancer calls. Set it before a peer starts. */
  async limitLoadBalancerCalls(atOnce: number): Promise<void> {
    await this.#admin.change({ concurrency: { "loadBalancers.*": atOnce } });
    this.#loadBalancerCallsAtOnce = atOnce;
  }

  /** Machines and Nodes that wait for a cloud controller. */
  async addNodes(prefix: string, count: number, pauseMs = 0): Promise<void> {
    const machines = await this.#makeMachines(numbered(prefix, count));
    const create = async ({ name }: Instance): Promise<void> => {
      await this.kube.create("/api/v1/nodes", nodeObject(name));
    };
    if (pauseMs === 0) return inParallel(machines, create);
    for (const machine of machines) {
      await create(machine);
      await this.pass(pauseMs);
    }
  }

  /** Machines and Nodes that a cloud controller has nothing to do for. */
  async addReadyNodes(count: number): Promise<void> {
    await inParallel(await this.#makeMachines(numbered("ready", count)), async (machine) => {
      await this.kube.create("/api/v1/nodes", readyNodeObject(machine.name, machine));
    });
  }

  async addServices(count: number): Promise<void> {
    await inParallel(numbered(SERVICE_PREFIX, count), async (name) => {
      await this.kube.create(SERVICES, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name },
        spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ port: PORT, protocol: "TCP" }] },
      });
    });
  }

  async startPeer(peer: Peer): Promise<void> {
    this.#running = await peer.start(this, this.#parts.flags);
    const { pages } = this.#running;
    this.#probe = pages === undefined ? undefined : new HealthProbe(pages);
  }

  async stopPeer(): Promise<void> {
    await this.#probe?.[Symbol.asyncDispose]();
    await Promise.all(this.#running.programs.map((program) => program.stop("SIGTERM")));
    this.#running = { programs: [] };
  }

  async removeLease(): Promise<void> {
    await this.kube.send("DELETE", LEASE);
  }

  /** Calls of the cloud begin to take their time, and what happened so far does not count. */
  async fromHere(): Promise<void> {
    await this.#admin.change({ latency: LATENCY });
    await this.#admin.resetCalls();
    [this.#ownCalls, this.#ownChanges] = [0, 0];
    this.#cpuBefore = sumOfUsages(await this.#usages()).cpuSeconds;
    // The event loop metric covers the time since its last read.
    await this.#eventLoopP99Ms();
    this.#probe?.forget();
    this.#fromMs = Date.now();
    this.#startClock();
  }

  /** Every Node has what a cloud controller gives it. */
  async nodesInitialized(): Promise<Done> {
    // A Node's zone comes in the same write as the end of its taint. From the API server's cache: it may be late, never early.
    const path = `/api/v1/nodes?labelSelector=!${ZONE}&resourceVersion=0`;
    const left = async (): Promise<number> => (await this.kube.items(path)).length;
    const done = await this.#work({
      what: "all nodes to be initialized",
      isDone: () =>
        areDone(this.kube, this.#random, {
          paths: this.machines.map(({ name }) => `/api/v1/nodes/${name}`),
          isDone: (node) => at(node, "metadata", "labels", ZONE) !== undefined,
          areAllDone: async () => (await left()) === 0,
        }),
      share: async () => 1 - (await left()) / this.machines.length,
    });
    // What follows is no work of the peer's.
    await this.reaction();
    const tainted = done.share < 1 ? 0 : await countTainted(this.kube);
    if (tainted > 0) throw new Error(`${tainted} nodes have a zone and still a taint`);
    return done;
  }

  async servicesAddressed(count: number): Promise<Done> {
    const isAddressed = (service: Json): boolean => at(service, "status", "loadBalancer", "ingress", 0) !== undefined;
    const addressed = async (): Promise<number> => (await this.kube.items(SERVICES)).filter(isAddressed).length;
    return this.#work({
      what: `${count} Services to have addresses`,
      isDone: () =>
        areDone(this.kube, this.#random, {
          paths: numbered(SERVICE_PREFIX, count).map((name) => `${SERVICES}/${name}`),
          isDone: isAddressed,
          areAllDone: async () => (await addressed()) === count,
        }),
      share: async () => (await addressed()) / count,
    });
  }

  async loadBalancersForwardTo(targets: number): Promise<Done> {
    const ready = async (): Promise<readonly boolean[]> => {
      const list = { pageSize: 1000, consistent: true };
      const { items } = await this.#cloud.listLoadBalancers(list, AbortSignal.timeout(CALL_MS));
      return items.map(({ targetCount }) => targetCount === targets);
    };
    return this.#work({
      what: `all load balancers to have ${targets} targets`,
      isDone: async () => (await ready()).every(Boolean),
      share: async () => {
        const each = await ready();
        return each.filter(Boolean).length / each.length;
      },
    });
  }

  /**
   * Every kubelet has fallen silent. Answers for each machine from when on that is so; what the peer does from the first on counts,
   * the time from the last on.
   */
  async silenceNodes(): Promise<ReadonlyMap<string, number>> {
    const sinceMs = new Map<string, number>();
    await this.fromHere();
    await inParallel(this.machines, async ({ id, name }) => {
      const conditions = silentConditions(new Date().toISOString());
      // Before the write: a peer may see the change before its response arrives. No peer reads the instance of a Ready Node.
      sinceMs.set(id, Date.now());
      await this.kube.patch(`/api/v1/nodes/${name}/status`, { status: { conditions } });
    });
    this.#startClock();
    return sinceMs;
  }

  /** Whether each of these instances was read from the cloud at that time or later. */
  async machinesAskedAbout(sinceMs: ReadonlyMap<string, number>): Promise<Done> {
    const asked = async (): Promise<number> => {
      const askedMs = await this.#admin.instancesAsked();
      return [...sinceMs].filter(([id, ms]) => (askedMs.get(id) ?? 0) >= ms).length;
    };
    return this.#work({
      what: `the cloud to be asked about ${sinceMs.size} machines`,
      isDone: async () => (await asked()) === sinceMs.size,
      share: async () => (await asked()) / sinceMs.size,
      lookMs: ASKED_LOOK_MS,
    });
  }

  /** Waits until the peer has sent no cloud calls for this time, after a number of calls; returns the time of the last call. */
  async cloudLeftAlone(quietMs: number, leastCalls = 1): Promise<Done> {
    let [calls, lastMs] = [-1, performance.now()];
    await this.#until("the cloud to be left alone", REST_MS, LOOK_MS, async () => {
      const { operations } = await this.#admin.calls();
      // A long poll returns even without changes.
      const asked = operations.filter(({ operation }) => operation !== "events.list");
      const now = asked.reduce((sum, operation) => sum + operation.calls, 0);
      if (now !== calls) [calls, lastMs] = [now, performance.now()];
      return performance.now() - lastMs > quietMs && calls >= leastCalls;
    });
    return { seconds: (lastMs - this.#startMs) / 1000, share: 1 };
  }

  /** Counts of the completed work; later calls return the same. */
  async reaction(): Promise<Reaction> {
    const healthMs = [...(this.#probe?.answersMs ?? [])];
    this.#reaction ??= { healthMs, eventLoopP99Ms: await this.#eventLoopP99Ms() };
    return this.#reaction;
  }

  async counts(): Promise<Counts> {
    const usages = await this.#usages();
    const all = usages.length === 0 ? undefined : sumOfUsages(usages);
    const { total, mutating } = await this.#admin.calls();
    const writes = countWrites(await this.#parts.controlPlane.auditEvents(), this.#fromMs);
    return {
      cpuSeconds: (all?.cpuSeconds ?? 0) - this.#cpuBefore + (this.#running.ownCpuSeconds ?? 0),
      controllerRssBytes: usages[0]?.rssBytes,
      rssBytes: all?.rssBytes,
      pssBytes: all?.pssBytes,
      peakRssBytes: all?.peakRssBytes,
      cloudCalls: total - this.#ownCalls,
      cloudChanges: mutating - this.#ownChanges,
      ...writes,
    };
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#parts.signal });
    this.#requireRunning();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#probe?.[Symbol.asyncDispose]();
    await Promise.all(this.#running.programs.map((program) => program[Symbol.asyncDispose]()));
    await this.#parts.stack.disposeAsync();
  }

  async #makeMachines(names: readonly string[]): Promise<readonly Instance[]> {
    const made = await makeMachines(this.#cloud, names);
    this.machines.push(...made);
    return made;
  }

  /** Waits for the end of a work, as long as there is patience. */
  async #work({ what, isDone, share, lookMs = LOOK_MS }: Work): Promise<Done> {
    // What takes so long while the stage is being set will never end.
    const limitMs = this.#fromMs === 0 ? REST_MS : WORK_MS;
    let seconds = 0;
    let done = false;
    await this.#until(what, limitMs, lookMs, async () => {
      done = await isDone();
      seconds = (performance.now() - this.#startMs) / 1000;
      return done || performance.now() > this.#patienceEndsMs;
    });
    return { seconds, share: done ? 1 : await share() };
  }

  /** Polls until the condition is true; fails immediately if a program of the peer has exited. */
  async #until(what: string, limitMs: number, lookMs: number, holds: () => Promise<boolean>): Promise<void> {
    const endMs = performance.now() + limitMs;
    while (!(await holds())) {
      if (performance.now() > endMs) throw new Error(`timed out after ${limitMs} ms: ${what}`);
      await this.pass(lookMs);
    }
  }

  async #eventLoopP99Ms(): Promise<number | undefined> {
    const metrics = (await this.#running.pages)?.metrics;
    return metrics === undefined ? undefined : readEventLoopP99Ms(metrics);
  }

  #startClock(): void {
    this.#startMs = performance.now();
    this.#patienceEndsMs = this.#startMs + this.#parts.patienceMs;
  }

  #requireRunning(): void {
    const ended = this.#running.programs.find((program) => !program.running);
    if (ended !== undefined) throw new Error(`a program ended by itself:\n${ended.output.slice(-4000)}`);
  }

  #usages() {
    return Promise.all(this.#running.programs.map(({ pid }) => readTreeUsage(pid)));
  }
}
