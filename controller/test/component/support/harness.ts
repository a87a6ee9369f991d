import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DevCluster, type JsonObject, type RecordedRequest, startDevCluster } from "@cloudwire/devcluster";
import { connectCluster, type ClusterConnection } from "../../../src/kube/cluster.ts";
import { reporter } from "../../../src/observe/plans.ts";
import { type Observing, observing } from "../../../src/observe/write-filter.ts";
import { CLOUD_NODE_CONTROLLER, SERVICE_LB_CONTROLLER } from "../../../src/api/controller-names.ts";
import { cloudNode } from "../../../src/controllers/node/controller.ts";
import type { NodeOptions } from "../../../src/controllers/node/options.ts";
import { serviceLb } from "../../../src/controllers/service/controller.ts";
import type { ServiceOptions } from "../../../src/controllers/service/options.ts";
import type { Options } from "../../../src/app/options.ts";
import { CONNECTION_TIMING } from "../../../src/provider/connection/connection.ts";
import { BatchingInstanceReader } from "../../../src/provider/lookup/instance-reader.ts";
import { ChangeSequence } from "../../../src/leadership/change-sequence.ts";
import { providerMetrics } from "../../../src/provider/metrics.ts";
import { Sidecar } from "../../../src/provider/sidecar.ts";
import { providerSet } from "../../../src/provider/ownership/provider-set.ts";
import type { Controller } from "../../../src/runtime/controller.ts";
import type { ControllerContext } from "../../../src/runtime/registration.ts";
import { Metrics } from "../../../src/telemetry/metrics.ts";
import { NO_TRACING } from "../../../src/telemetry/tracing.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { asRecord, numberField, recordField, stringField } from "../../../src/util/json.ts";
import { TaskGroup } from "../../../src/util/task-group.ts";
import { built, controllerEnvironment } from "../../support/controller-context.ts";
import { FakeLog } from "../../support/fake-log.ts";
import { eventually } from "../../support/poll.ts";
import { Cloud } from "./cloud.ts";
import { CloudProvider, type CloudProviderOptions } from "./cloud-provider.ts";
import { scaledClock } from "./scaled-clock.ts";

/** Controllers' time runs so much faster: a back-off of 5 s takes a quarter of a second. */
export const SPEED = 20;

/** Nothing more happens when nothing has happened for so long, in real milliseconds: several windows and batches. */
const QUIET_MS = 400;

/** And so many looks in a row: where the machine gives this process no time, nothing happens for another reason. */
const QUIET_LOOKS = 60;

const USER = "a-user";

type Intercept = NonNullable<Parameters<typeof startDevCluster>[0]>["intercept"];

export interface HarnessOptions {
  readonly objects?: readonly JsonObject[];
  readonly nodeWorkers?: number;
  /** Of the controllers' time. @default 0: no sweeps */
  readonly driftPeriodMs?: number;
}

type ManagerSettings = Required<Pick<HarnessOptions, "nodeWorkers" | "driftPeriodMs">> & {
  readonly mode?: Pick<Options, "mode" | "controllerMode" | "providerMode"> | undefined;
};

/** API server, cloud and socket of one test; controllers and providers come and go. */
export class Harness implements AsyncDisposable {
  readonly cloud = new Cloud();
  readonly cluster: DevCluster;
  readonly #directory: string;
  readonly #providers: CloudProvider[] = [];
  readonly #managers: Manager[] = [];
  readonly #settings: ManagerSettings;
  /** Sees each request before the server does; may answer it. */
  intercept: Intercept;

  static async start({ objects = [], nodeWorkers = 64, driftPeriodMs = 0 }: HarnessOptions = {}): Promise<Harness> {
    let harness: Harness | undefined;
    const cluster = await startDevCluster({
      controllers: false,
      intercept: (request) => (harness === undefined ? { kind: "pass" } : harness.#see(request)),
    });
    harness = new Harness(cluster, await mkdtemp(join(tmpdir(), "cw-")), { nodeWorkers, driftPeriodMs });
    // Services go through the server, which gives them addresses and defaults; Nodes come with a status of their own.
    for (const object of objects) {
      if (object["kind"] === "Service") await harness.user("POST", "namespaces/default/services", object);
      else cluster.seed(object);
    }
    return harness;
  }

  /** Names of events in the order of their making. */
  readonly #eventNames: string[] = [];

  #see(request: RecordedRequest): ReturnType<NonNullable<Intercept>> {
    if (request.method === "POST" && request.path.endsWith("/events")) {
      this.#eventNames.push(/"name":"([^"]+)"/.exec(request.body)?.[1] ?? "");
    }
    return this.intercept?.(request) ?? { kind: "pass" };
  }

  private constructor(cluster: DevCluster, directory: string, settings: ManagerSettings) {
    this.cluster = cluster;
    this.#directory = directory;
    this.#settings = settings;
  }

  get socketPath(): string {
    return join(this.#directory, "provider.sock");
  }

  async startProvider(options?: CloudProviderOptions): Promise<CloudProvider> {
    const provider = await CloudProvider.start(this.cloud, this.socketPath, options);
    this.#providers.push(provider);
    return provider;
  }

  /** A process with both controllers; `kill` ends it with all its memory. */
  startManager(mode?: ManagerSettings["mode"]): Manager {
    const manager = new Manager(this.cluster, this.socketPath, { ...this.#settings, mode });
    this.#managers.push(manager);
    return manager;
  }

  /** Every write of managers but those of events, in order: verb, path, body. */
  get writes(): readonly string[] {
    return this.cluster.requests
      .filter(({ method, path, userAgent }) => method !== "GET" && !path.includes("/events") && userAgent !== USER)
      .map(({ method, path, body }) => `${method} ${path.replace("/api/v1/", "")} ${body}`);
  }

  /** Events of one object, in the order in which they were first written; repeated ones carry their count. */
  events(name: string): readonly string[] {
    return this.cluster
      .list("v1", "Event")
      .map((event) => asRecord(event, "event"))
      .filter((event) => stringField(recordField(event, "involvedObject"), "name") === name)
      .toSorted((a, b) => this.#orderOf(a) - this.#orderOf(b))
      .map((event) => {
        const count = numberField(event, "count");
        const text = `${stringField(event, "type")} ${stringField(event, "reason")} ${stringField(event, "message")}`;
        return count > 1 ? `${text} x${count}` : text;
      });
  }

  #orderOf(event: Readonly<Record<string, unknown>>): number {
    return this.#eventNames.indexOf(stringField(recordField(event, "metadata"), "name"));
  }

  /** What a user does: creates, merges a patch into, or deletes an object of the core group. */
  async user(method: "POST" | "PATCH" | "DELETE", path: string, body?: JsonObject): Promise<void> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const response = await fetch(`${this.cluster.url}/api/v1/${path}`, {
      method,
      headers: { "content-type": type, "user-agent": USER },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }

  /** Waits until neither the API server nor the cloud has heard anything for a while. */
  async quiet(): Promise<void> {
    let seen = -1;
    let sinceMs = 0;
    let looks = 0;
    await eventually(
      "nothing happens any more",
      () => {
        const now = this.cluster.requests.filter(isWork).length + this.cloud.calls.length;
        looks += 1;
        if (now !== seen) {
          seen = now;
          sinceMs = performance.now();
          looks = 0;
        }
        return looks > QUIET_LOOKS && performance.now() - sinceMs > QUIET_MS;
      },
      30_000,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#managers.map((manager) => manager.kill()));
    await Promise.all(this.#providers.map((provider) => provider[Symbol.asyncDispose]()));
    await this.cluster.close();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

/** Everything of one controller process, but the process. */
export class Manager {
  readonly log = new FakeLog();
  readonly metrics = new Metrics();
  readonly sidecar: Sidecar;
  readonly nodes: Controller;
  readonly services: Controller;
  /** undefined: everything that is planned is done. */
  readonly observed: Observing | undefined;
  readonly #kube: ClusterConnection;
  readonly #tasks = new TaskGroup((name, error) => this.log.error(name, { err: error }));
  readonly #life = new AbortController();
  #end: Promise<void> | undefined;

  constructor(cluster: DevCluster, socketPath: string, settings: ManagerSettings) {
    const { log, metrics } = this;
    const { nodeWorkers, driftPeriodMs, mode } = settings;
    const real = systemClock();
    const observed = mode && observing({ options: mode, metrics, clock: real, log });
    this.observed = observed;
    const gated = observed === undefined ? {} : { filter: observed.filter };
    const clock = scaledClock(SPEED);
    const listeners = new Set<() => void>();
    this.sidecar = new Sidecar({
      name: "acme",
      address: `unix://${socketPath}`,
      cluster: { id: cluster.clusterUid, name: "test" },
      version: "0.0.0-test",
      clock: real,
      numbers: new ChangeSequence({ clock: real, log, isElected: false }),
      random: () => 0.5,
      newId: randomUUID,
      userId: process.getuid?.(),
      log,
      metrics: providerMetrics(metrics),
      tracing: NO_TRACING,
      timing: { ...CONNECTION_TIMING, connectMs: 200, retryMs: 50, graceMs: 100 },
      onReady: () => listeners.forEach((listener) => listener()),
      ...gated,
    });
    const providers = providerSet([this.sidecar]);
    this.#kube = connectCluster({
      access: {
        server: cluster.url,
        description: "devcluster",
        proxyUrl: undefined,
        credentials: () => Promise.resolve({ headers: {}, tls: {} }),
      },
      options: { kubeApiQps: 0, kubeApiBurst: 1 },
      isEnabled: () => false,
      userAgent: "test",
      metrics,
      log,
      clock: real,
      random: () => 0.5,
      tracing: NO_TRACING,
      ...gated,
    });
    const contextOf = (name: string): ControllerContext<NodeOptions & ServiceOptions> => ({
      ...controllerEnvironment({
        name,
        clock,
        log,
        ...(observed && { controllerMetrics: { planned: reporter(observed.plans, name) } }),
      }),
      options: {
        concurrentNodeSyncs: nodeWorkers,
        nodeStatusUpdateFrequency: 300_000,
        nodeAddressTimeout: 300_000,
        nodeTopologyPolicy: "warn",
        concurrentServiceSyncs: 4,
        loadBalancerDriftPeriod: driftPeriodMs,
        allowLoadBalancerAdoption: false,
      },
      program: {
        identity: "a-process",
        clock,
        random: () => 0.5,
        newId: randomUUID,
        log,
        metrics,
        tracing: NO_TRACING,
      },
      cluster: this.#kube,
      providers: {
        providers,
        instances: new BatchingInstanceReader({
          providers,
          clock: real,
          signal: this.#life.signal,
          tracing: NO_TRACING,
        }),
        onReady: (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
    });
    this.nodes = built(cloudNode.register(contextOf(CLOUD_NODE_CONTROLLER)));
    this.services = built(serviceLb.register(contextOf(SERVICE_LB_CONTROLLER)));
    this.#tasks.start("sidecar", (signal) => this.sidecar.run(signal));
    this.#tasks.start("nodes informer", (signal) => this.#kube.nodes.run(signal));
    this.#tasks.start("services informer", (signal) => this.#kube.services.run(signal));
  }

  startNodes(): this {
    return this.#run("cloud-node", this.nodes);
  }

  startServices(): this {
    return this.#run("service-lb", this.services);
  }

  #run(name: string, controller: Controller): this {
    this.#tasks.start(name, (signal) => controller.run({ stop: signal, abort: signal }));
    return this;
  }

  /** Cuts everything short at once and drops what is in memory. */
  kill(): Promise<void> {
    this.#end ??= this.#stop();
    return this.#end;
  }

  async #stop(): Promise<void> {
    this.#life.abort(new Error("killed"));
    await this.#tasks.stop(new Error("killed"));
    await this.#kube.events.flush(AbortSignal.timeout(1000));
    await this.#kube.close();
  }
}

function isWork({ method }: RecordedRequest): boolean {
  return method !== "GET";
}
