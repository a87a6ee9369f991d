import type { EventInput } from "../../../src/api/event.ts";
import type { Node } from "../../../src/api/node.ts";
import { cloudNode } from "../../../src/controllers/node/controller.ts";
import type { FieldPolicy } from "../../../src/controllers/node/plan/labels.ts";
import type { JsonValue, Patch } from "../../../src/kube/client.ts";
import { NODES } from "../../../src/kube/resources/node.ts";
import type { ProviderError } from "../../../src/provider/model/errors.ts";
import type { Instance, InstanceAnswer } from "../../../src/provider/model/instance.ts";
import { BatchingInstanceReader } from "../../../src/provider/lookup/instance-reader.ts";
import { providerSet } from "../../../src/provider/ownership/provider-set.ts";
import type { Provider } from "../../../src/provider/model/provider.ts";
import { Metrics } from "../../../src/telemetry/metrics.ts";
import { NO_TRACING } from "../../../src/telemetry/tracing.ts";
import { isRecord, type JsonRecord, recordField } from "../../../src/util/json.ts";
import { instance } from "../builders.ts";
import { built, controllerContext, REFUSING_CLIENT } from "../controller-context.ts";
import { FakeClock, settle } from "../fake-clock.ts";
import { FakeInformer } from "../kube/fake-informer.ts";
import { FakeKube } from "../kube/fake-kube.ts";
import { FakeLog } from "../fake-log.ts";
import { idleProvider, info, instanceCapabilities } from "../provider/provider-builders.ts";

/** Of a kubelet with --node-ip. */
const OWN_ADDRESS = { type: "InternalIP", address: "10.0.0.1" } as const;

export const MINUTE_MS = 60_000;
export const REFRESH_MS = 5 * MINUTE_MS;
export const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";

/** One call of the provider. */
interface Call {
  readonly atMs: number;
  /** What was asked for: provider IDs, or names where there is none. */
  readonly asked: readonly string[];
}

export interface HarnessOptions {
  readonly topologyPolicy?: FieldPolicy;
  readonly maxBatchSize?: number;
  readonly refreshMs?: number;
}

/** cloud-node with its API server, its cloud and its provider in one process, under a clock that the test moves. */
export class NodeHarness implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly kube = new FakeKube();
  readonly nodes = new FakeInformer<Node>();
  readonly log = new FakeLog();
  readonly events: EventInput[] = [];
  readonly calls: Call[] = [];
  /** Machines by provider ID. */
  readonly machines = new Map<string, Instance>();
  metrics = new Metrics();
  /** The cloud fails like this. */
  failure: ProviderError | undefined;
  /** How long the provider takes. */
  callMs = 0;
  annotationKeys: readonly string[] = [];
  /** Changes of Nodes are not shown until they are released. */
  isLagging = false;
  readonly #late = new Set<string>();
  readonly #options: HarnessOptions;
  readonly #listeners = new Set<() => void>();
  #life = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(options: HarnessOptions = {}) {
    this.#options = options;
  }

  /** A machine whose ID is `acme://<name>` and whose name is `name`, unless said otherwise. */
  machine(name: string, parts: Partial<Instance> = {}): void {
    const made = instance({ providerId: `acme://${name}`, name, ...parts });
    this.machines.set(made.providerId, made);
  }

  change(name: string, parts: Partial<Instance>): void {
    this.machine(name, { ...this.machines.get(`acme://${name}`), ...parts });
  }

  /** A Node as a kubelet registers it. */
  register(
    name: string,
    spec: JsonRecord = {},
    metadata: JsonRecord = {},
    addresses: readonly JsonRecord[] = [OWN_ADDRESS],
  ): void {
    const taints = [{ key: UNINITIALIZED, value: "true", effect: "NoSchedule" }];
    this.#seed(name, { taints, ...spec }, metadata, addresses);
  }

  /** A Node that has been initialized long ago. */
  settled(name: string, metadata: JsonRecord = {}, addresses: readonly JsonRecord[] = [OWN_ADDRESS]): void {
    this.#seed(name, { providerID: `acme://${name}` }, metadata, addresses);
  }

  /** Merges into the Node, as a user with kubectl. */
  edit(name: string, change: JsonRecord): void {
    const stored = this.kube.stored(NODES, { name });
    if (stored === undefined) throw new Error(`no node ${name}`);
    this.kube.seed(NODES, merged(stored, change));
    this.show(name);
  }

  remove(name: string): void {
    this.nodes.delete(name);
  }

  /** The Node as the server has it. */
  node(name: string): Node {
    const stored = this.kube.stored(NODES, { name });
    if (stored === undefined) throw new Error(`no node ${name}`);
    return NODES.fromJson(stored);
  }

  /** Lets the cache see the Node as it is, or see it again. */
  show(name: string): void {
    if (this.isLagging) this.#late.add(name);
    else this.nodes.set(this.node(name));
  }

  /** The cache catches up, in this order. */
  release(order: (names: readonly string[]) => readonly string[] = (names) => names): void {
    this.isLagging = false;
    const names = [...this.#late];
    this.#late.clear();
    for (const name of order(names)) this.show(name);
  }

  start(): void {
    const { clock, kube, nodes, log } = this;
    const { topologyPolicy = "warn", refreshMs = REFRESH_MS } = this.#options;
    const { signal } = this.#life;
    const providers = providerSet([this.#provider()]);
    const registered = cloudNode.register(
      controllerContext({
        options: {
          concurrentNodeSyncs: 64,
          nodeStatusUpdateFrequency: refreshMs,
          nodeAddressTimeout: 300_000,
          nodeTopologyPolicy: topologyPolicy,
        },
        clock,
        log,
        metrics: this.metrics,
        nodes,
        providers,
        instances: new BatchingInstanceReader({ providers, clock, signal, tracing: NO_TRACING }),
        client: {
          ...REFUSING_CLIENT,
          get: (resource, name, options) => kube.get(resource, name, options),
          patch: async (resource, name, patch, options) => {
            const written = await kube.patch(resource, name, withoutDirectives(patch), options);
            this.show(name.name);
            return written;
          },
        },
        record: (event) => void this.events.push(event),
        readyListeners: this.#listeners,
      }),
    );
    const controller = built(registered);
    this.#ended = controller.run({ stop: signal, abort: signal });
  }

  /** A process that takes over: it knows nothing of the one before. */
  async restart(): Promise<void> {
    await this[Symbol.asyncDispose]();
    this.#life = new AbortController();
    this.metrics = new Metrics();
    this.start();
  }

  providerReady(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Time passes. */
  async pass(ms = 0): Promise<void> {
    await this.clock.advance(ms);
    await settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#life.abort(new Error("the test is over"));
    await this.#ended;
  }

  /** `target body` of each write. */
  get writes(): readonly string[] {
    return this.kube.writes.map(({ target, patch }) => `${target} ${JSON.stringify(patch?.body)}`);
  }

  /** `reason message` of each event. */
  get said(): readonly string[] {
    return this.events.map(({ reason, message }) => `${reason} ${message}`);
  }

  value(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number | undefined> {
    return this.metrics.value(name, labels);
  }

  #seed(name: string, spec: JsonRecord, metadata: JsonRecord, addresses: readonly JsonRecord[]): void {
    const uid = `uid-${name}`;
    const creationTimestamp = new Date(this.clock.nowMs()).toISOString();
    this.kube.seed(NODES, { metadata: { name, uid, creationTimestamp, ...metadata }, spec, status: { addresses } });
    this.show(name);
  }

  #provider(): Provider {
    const idle = idleProvider("acme", info());
    const { maxBatchSize = 1000 } = this.#options;
    const instances = instanceCapabilities({ maxBatchSize });
    const declared = () => info({ nodeAnnotationKeys: this.annotationKeys, capabilities: { instances } });
    return {
      ...idle,
      get info() {
        return declared();
      },
      client: {
        ...idle.client,
        getInstances: async (refs) => {
          const asked = refs.map(({ providerId, name }) => (providerId === "" ? name : providerId));
          this.calls.push({ atMs: this.clock.monotonicMs(), asked });
          if (this.callMs > 0) await this.#wait(this.callMs);
          return asked.map((text) => this.#answer(text));
        },
      },
    };
  }

  #wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.clock.schedule(ms, resolve);
    return promise;
  }

  #answer(asked: string): InstanceAnswer {
    const { failure } = this;
    if (failure !== undefined) return { kind: "unknown", error: failure };
    const nowMs = this.clock.nowMs();
    const witness = { provider: "acme", scopeId: "s", bootId: "b", receivedAtMs: nowMs };
    const found =
      this.machines.get(asked) ??
      [...this.machines.values()].find(({ name }) => !asked.includes("://") && name === asked);
    if (found === undefined) {
      return { kind: "absent", basis: "lookupMiss", observeTimeMs: nowMs, strong: true, witness };
    }
    return { kind: "present", instance: found, readTimeMs: nowMs, witness };
  }
}

/** The fake server replaces lists as they are sent, which is what a strategic patch of addresses asks for in its own way. */
function withoutDirectives(patch: Patch): Patch {
  return patch.kind === "strategic"
    ? { ...patch, body: { ...patch.body, ...undirected(patch.body["status"]) } }
    : patch;
}

function undirected(status: JsonValue | undefined): { readonly status?: { readonly addresses: readonly JsonValue[] } } {
  const list = isRecord(status) ? status["addresses"] : undefined;
  if (!Array.isArray(list)) return {};
  const addresses: readonly JsonValue[] = list;
  return { status: { addresses: addresses.filter((entry) => !(isRecord(entry) && "$patch" in entry)) } };
}

function merged(stored: JsonRecord, change: JsonRecord): JsonRecord {
  const result: Record<string, unknown> = { ...stored };
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete result[key];
    else result[key] = isRecord(value) ? merged(recordField(result, key), value) : value;
  }
  return result;
}
