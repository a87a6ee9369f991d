import { CLOUD_NODE_LIFECYCLE_CONTROLLER } from "../../../src/api/controller-names.ts";
import type { EventInput } from "../../../src/api/event.ts";
import type { Node } from "../../../src/api/node.ts";
import { nodeLifecycle } from "../../../src/controllers/node-lifecycle/controller.ts";
import { NODES } from "../../../src/kube/resources/node.ts";
import { ProviderError } from "../../../src/provider/model/errors.ts";
import type { Absence, InstanceAnswer, InstanceState } from "../../../src/provider/model/instance.ts";
import { BatchingInstanceReader } from "../../../src/provider/lookup/instance-reader.ts";
import type { ProviderInfo } from "../../../src/provider/model/info.ts";
import { providerSet } from "../../../src/provider/ownership/provider-set.ts";
import type { Provider } from "../../../src/provider/model/provider.ts";
import { Metrics } from "../../../src/telemetry/metrics.ts";
import { NO_TRACING } from "../../../src/telemetry/tracing.ts";
import { once } from "../../../src/util/once.ts";
import type { Mode } from "../../../src/observe/mode.ts";
import { built, controllerContext, PROCESS, REFUSING_CLIENT } from "../controller-context.ts";
import { FakeClock } from "../fake-clock.ts";
import { FakeInformer } from "../kube/fake-informer.ts";
import { FakeKube } from "../kube/fake-kube.ts";
import { FakeLog } from "../fake-log.ts";
import type { Observed } from "../explain/observed.ts";
import { idleProvider, info, instanceCapabilities } from "../provider/provider-builders.ts";

const MODE: Mode = "active";
const NOTE = "deletions.cloudwire.dev/acme";

/** What the cloud says of one machine. */
export type Said = InstanceState | "absent" | "terminated" | "notOwned" | ProviderError;

/** One response: provider, time (wall clock), Node. */
export interface Heard {
  readonly name: string;
  readonly said: Said;
  readonly by: string;
  readonly atMs: number;
}

/** Controller, API server, cloud and provider in one process, under a clock that the test moves. */
export class LifecycleHarness {
  readonly clock = new FakeClock();
  readonly kube = new FakeKube();
  readonly nodes = new FakeInformer<Node>();
  readonly log = new FakeLog();
  readonly metrics = new Metrics();
  /** May be changed while the controller runs. */
  readonly options = {
    nodeMonitorPeriod: 5000,
    concurrentNodeLifecycleSyncs: 16,
    nodeDeletionConfirmations: 2,
    nodeDeletionConfirmationPeriod: 30_000,
    nodeDeletionMaxPercent: 10,
    nodeDeletionProtection: false,
    mode: MODE,
    controllerMode: new Map<string, Mode>(),
    providerMode: new Map<string, Mode>(),
  };
  readonly events: string[] = [];
  /** Names of each call. */
  readonly calls: (readonly string[])[] = [];
  readonly says = new Map<string, Said>();
  /** Each answer about one machine. */
  readonly heard: Heard[] = [];
  bootId = "boot-1";
  scopeId = "project-1";
  untrustedReason: string | undefined;
  absence: Partial<Absence> = {};
  /** Set before the start. Those after the first have no instances. */
  providers: readonly string[] = ["acme"];
  /** Set before the start: nothing is written, all is planned. */
  observed: Observed | undefined;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  /** A Node made an hour ago and not Ready for a minute, unless said otherwise. */
  node(
    name: string,
    parts: {
      readonly ageMs?: number;
      readonly uid?: string;
      readonly spec?: object;
      readonly annotations?: object;
    } = {},
  ): void {
    const { ageMs = 3_600_000, uid = `uid-${name}`, spec = {}, annotations = {} } = parts;
    const metadata = { name, uid, annotations, creationTimestamp: this.#time(ageMs) };
    this.kube.seed(NODES, {
      metadata,
      spec: { providerID: `acme://${name}`, ...spec },
      status: {
        conditions: [{ type: "Ready", status: "Unknown", lastTransitionTime: this.#time(Math.min(ageMs, 60_000)) }],
      },
    });
    this.#show(name);
  }

  names(count: number, prefix = "n"): readonly string[] {
    return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  }

  ready(name: string, status = "True"): void {
    const stored = this.kube.stored(NODES, { name });
    if (stored === undefined) throw new Error(`no node ${name}`);
    const conditions = [{ type: "Ready", status, lastTransitionTime: this.#time(0) }];
    this.kube.seed(NODES, { ...stored, status: { conditions } });
    this.#show(name);
  }

  annotate(name: string, annotations: object): void {
    const stored = this.kube.stored(NODES, { name });
    if (stored === undefined) throw new Error(`no node ${name}`);
    this.kube.seed(NODES, { ...stored, metadata: { ...Object(stored["metadata"]), annotations } });
    this.#show(name);
  }

  /** The controller and what it keeps on the Lease; what is set before the start, is set before this is first asked for. */
  readonly #registered = once(() => {
    const { clock, nodes, log, observed } = this;
    const kube = observed?.client(this.kube) ?? this.kube;
    const record = (event: EventInput): void => void this.events.push(textOf(event));
    const providers = providerSet(this.providers.map((name) => this.#provider(name)));
    const instances = new BatchingInstanceReader({ providers, clock, signal: this.#stop.signal, tracing: NO_TRACING });
    const context = controllerContext({
      name: CLOUD_NODE_LIFECYCLE_CONTROLLER,
      options: this.options,
      clock,
      log,
      metrics: this.metrics,
      nodes,
      providers,
      instances,
      client: {
        ...REFUSING_CLIENT,
        get: (resource, name, options) => kube.get(resource, name, options),
        patch: async (resource, name, patch, options) => {
          const written = await kube.patch(resource, name, patch, options);
          this.#show(name.name);
          return written;
        },
        delete: async (resource, name, options) => {
          await kube.delete(resource, name, options);
          nodes.delete(name.name);
        },
      },
      record: observed?.events(record) ?? record,
      ...(observed && { controllerMetrics: { planned: observed.reporting(CLOUD_NODE_LIFECYCLE_CONTROLLER) } }),
    });
    const registered = nodeLifecycle.register(context);
    const [annotation] = registered?.leaseAnnotations ?? [];
    if (annotation === undefined) throw new Error("the controller keeps nothing on the Lease");
    return { controller: built(registered), annotation, instances };
  });

  start(): void {
    const { signal } = this.#stop;
    this.#running = this.#registered().controller.run({ stop: signal, abort: signal });
  }

  /** The process holds a Lease, whose writes the test makes. */
  delay(renewSoon: () => void): void {
    this.#registered().annotation.keptOn?.(renewSoon);
  }

  /** What the next write of the Lease is to say. */
  note(): string | undefined {
    return this.#registered().annotation.write()[NOTE];
  }

  /** That is on the Lease, which this process holds. */
  recorded(text: string): void {
    this.#registered().annotation.read({ [NOTE]: text }, PROCESS);
  }

  /** That is on the Lease, which another process holds. */
  read(text: string): void {
    this.#registered().annotation.read({ [NOTE]: text }, "another");
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("the test is over"));
    await this.#running;
  }

  /** `verb target`, or the patch itself. */
  get writes(): readonly string[] {
    return this.kube.writes.map(({ verb, target, patch }) =>
      patch === undefined ? `${verb} ${target}` : `${verb} ${target} ${JSON.stringify(patch.body)}`,
    );
  }

  get deletions(): readonly string[] {
    return this.kube.writes.filter(({ verb }) => verb === "delete").map(({ target }) => target.replace("nodes/", ""));
  }

  /** As another controller reads it, with the same reader. */
  async observe(name: string): Promise<void> {
    const node = this.nodes.lister.get(name);
    if (node === undefined) throw new Error(`no node ${name}`);
    const reading = this.#registered().instances.get(node, { signal: this.#stop.signal, maxDataAgeMs: 0 });
    await this.clock.advance(1000);
    await reading;
  }

  #provider(provider: string): Provider {
    const declared = () => this.#declared(provider);
    const untrustedReason = () => this.untrustedReason;
    const idle = idleProvider(provider, declared());
    return {
      ...idle,
      get info() {
        return declared();
      },
      get untrustedReason() {
        return untrustedReason();
      },
      client: {
        ...idle.client,
        getInstances: (nodes) => {
          this.calls.push(nodes.map(({ name }) => name));
          return Promise.resolve(nodes.map(({ name }) => this.#answer(name, provider)));
        },
      },
    };
  }

  #declared(provider: string): ProviderInfo {
    const { bootId, scopeId } = this;
    const instances = instanceCapabilities({ existenceConsistencyDelayMs: 0 });
    return info({ bootId, scopeId, providerIdPrefixes: [`${provider}://`], capabilities: { instances } });
  }

  #answer(name: string, provider: string): InstanceAnswer {
    const said = provider === this.providers[0] ? (this.says.get(name) ?? "running") : "absent";
    const nowMs = this.clock.nowMs();
    this.heard.push({ name, said, by: `${this.bootId} ${this.scopeId}`, atMs: nowMs });
    const witness = { provider, scopeId: this.scopeId, bootId: this.bootId, receivedAtMs: nowMs };
    if (said instanceof ProviderError) return { kind: "unknown", error: said };
    if (said === "notOwned") return { kind: "notOwned", message: "another's" };
    if (said === "absent" || said === "terminated") {
      const basis = said === "terminated" ? "terminated" : "lookupMiss";
      return { kind: "absent", basis, observeTimeMs: nowMs, strong: true, witness, ...this.absence };
    }
    const facts = { instanceType: undefined, zone: undefined, region: undefined, podCidrs: undefined };
    const rest = { addresses: [], stateReason: "", labels: {}, createTimeMs: undefined, revision: "", warnings: [] };
    const instance = { providerId: `acme://${name}`, name, state: said, ...facts, ...rest };
    return { kind: "present", instance, readTimeMs: nowMs, witness };
  }

  #show(name: string): void {
    const stored = this.kube.stored(NODES, { name });
    if (stored !== undefined) this.nodes.set(NODES.fromJson(stored));
  }

  #time(agoMs: number): string {
    return new Date(this.clock.nowMs() - agoMs).toISOString();
  }
}

function textOf({ regarding, type, reason, message }: EventInput): string {
  return `${regarding.name}: ${type} ${reason} ${message}`;
}
