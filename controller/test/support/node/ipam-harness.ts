import { NODE_IPAM_CONTROLLER } from "../../../src/api/controller-names.ts";
import type { EventInput } from "../../../src/api/event.ts";
import type { Node } from "../../../src/api/node.ts";
import { nodeIpam } from "../../../src/controllers/node-ipam/controller.ts";
import type { NodeIpamOptions } from "../../../src/controllers/node-ipam/options.ts";
import type { ApiError } from "../../../src/kube/errors.ts";
import { NODES } from "../../../src/kube/resources/node.ts";
import type { ProviderError } from "../../../src/provider/model/errors.ts";
import type { InstanceResult } from "../../../src/provider/model/instance.ts";
import { Metrics } from "../../../src/telemetry/metrics.ts";
import { isRecord, recordField, stringField, stringsField } from "../../../src/util/json.ts";
import { instance } from "../builders.ts";
import { built, controllerContext, REFUSING_CLIENT } from "../controller-context.ts";
import { FakeClock } from "../fake-clock.ts";
import { FakeInformer } from "../kube/fake-informer.ts";
import { apiError, FakeKube, type KubeCall } from "../kube/fake-kube.ts";
import { FakeLog } from "../fake-log.ts";
import type { Observed } from "../explain/observed.ts";

/** How a write ends: as the server does it, refused before it is done, or done and its answer lost. */
export type Fate = "answered" | "refused" | "lost";

/** `10.0.0.0/22 24`: a range and the prefix length of what a Node gets of it, at most one of each IP family. */
export function ranges(clusterCidrs: readonly string[], serviceCidrs: readonly string[] = []): NodeIpamOptions {
  const sizeOf = (isOfFamily: (cidr: string) => boolean): number =>
    Number(clusterCidrs.find(isOfFamily)?.split(" ")[1] ?? 0);
  return {
    allocateNodeCidrs: true,
    cidrAllocatorType: "RangeAllocator",
    clusterCidr: clusterCidrs.map((text) => text.split(" ")[0]).join(),
    nodeCidrMaskSize: 0,
    nodeCidrMaskSizeIpv4: sizeOf((text) => text.includes(".")),
    nodeCidrMaskSizeIpv6: sizeOf((text) => text.includes(":")),
    serviceClusterIpRange: serviceCidrs.join(),
  };
}

/** API server, cloud and controller in one process, under a clock that the test moves. The cache can be delayed. */
export class IpamHarness {
  readonly clock = new FakeClock();
  readonly kube = new FakeKube();
  readonly log = new FakeLog();
  readonly events: string[] = [];
  /** Names of the Nodes asked about, one by one. */
  readonly asked: string[] = [];
  /** What the cloud says of a machine; undefined: it knows no ranges. */
  readonly says = new Map<string, readonly string[] | undefined | ProviderError | "absent" | "notOwned">();
  fate: (name: string) => Fate = () => "answered";
  /** The cache stands still. */
  isLagging = false;
  /** Set before the start: nothing is written, all is planned. */
  observed: Observed | undefined;
  nodes = new FakeInformer<Node>();
  metrics = new Metrics();
  #readyListeners = new Set<() => void>();
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #made = 0;
  readonly #names = new Set<string>();

  /** Registers a Node, as kubelet or another client. */
  node(name: string, podCIDRs: readonly string[] = [], metadata: object = {}): void {
    const [podCIDR = ""] = podCIDRs;
    this.kube.seed(NODES, { metadata: { name, uid: `uid-${++this.#made}`, ...metadata }, spec: { podCIDR, podCIDRs } });
    this.#names.add(name);
    this.sync();
  }

  async remove(name: string): Promise<void> {
    await this.kube.delete(NODES, { name }, { signal: new AbortController().signal }).catch(() => undefined);
    this.sync();
  }

  /** The cache notifies of an unchanged Node. */
  repeat(name: string): void {
    const shown = this.nodes.lister.get(name);
    if (shown !== undefined) this.nodes.set(shown);
  }

  /** The cache catches up, unless it lags. */
  sync(): void {
    if (this.isLagging) return;
    for (const name of this.#names) this.#show(name);
  }

  start(options: NodeIpamOptions): void {
    const { clock, log, observed } = this;
    const kube = observed?.client(this.kube) ?? this.kube;
    const record = (event: EventInput): void => void this.events.push(textOf(event));
    this.#stop = new AbortController();
    const shown = [...this.nodes.lister.list()];
    this.nodes = new FakeInformer<Node>();
    for (const node of shown) this.nodes.set(node);
    this.metrics = new Metrics();
    this.sync();
    const registered = nodeIpam.register(
      controllerContext({
        name: NODE_IPAM_CONTROLLER,
        options,
        clock,
        log,
        metrics: this.metrics,
        nodes: this.nodes,
        instances: { get: (node) => Promise.resolve(this.#answer(node)) },
        client: {
          ...REFUSING_CLIENT,
          get: (resource, name, how) => kube.get(resource, name, how),
          list: (resource, how) => kube.list(resource, how),
          patch: async (resource, name, patch, how) => {
            const fate = this.fate(name.name);
            if (fate === "refused") throw apiError("forbidden");
            const refusal = this.#refusal({ verb: "patch", target: name.name, patch });
            if (refusal !== undefined) throw refusal;
            const written = await kube.patch(resource, name, patch, how);
            this.sync();
            if (fate === "lost") throw apiError("transient");
            return written;
          },
        },
        record: observed?.events(record) ?? record,
        ...(observed && { controllerMetrics: { planned: observed.reporting(NODE_IPAM_CONTROLLER) } }),
        readyListeners: this.#readyListeners,
      }),
    );
    const controller = built(registered);
    const { signal } = this.#stop;
    this.#running = controller.run({ stop: signal, abort: signal });
  }

  providerReady(): void {
    for (const listener of this.#readyListeners) listener();
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("the test is over"));
    await this.#running;
  }

  /** The ranges of each Node at the server, in the order in which the Nodes were made. */
  get held(): Readonly<Record<string, readonly string[]>> {
    const present = [...this.#names].filter((name) => this.kube.stored(NODES, { name }) !== undefined);
    return Object.fromEntries(present.map((name) => [name, this.rangesOf(name)]));
  }

  rangesOf(name: string): readonly string[] {
    return stringsField(recordField(this.kube.stored(NODES, { name }) ?? {}, "spec"), "podCIDRs");
  }

  /** Patches that reached the server. */
  get patches(): readonly KubeCall[] {
    return this.kube.calls.filter(({ verb }) => verb === "patch");
  }

  #show(name: string): void {
    const stored = this.kube.stored(NODES, { name });
    const shown = this.nodes.lister.get(name);
    const now = stored === undefined ? undefined : NODES.fromJson(stored);
    if (shown !== undefined && shown.metadata.uid !== now?.metadata.uid) this.nodes.delete(name);
    if (now !== undefined && shown?.metadata.resourceVersion !== now.metadata.resourceVersion) this.nodes.set(now);
  }

  /** As the server answers: a UID is fixed, and so are ranges once they are set. */
  #refusal({ target, patch }: KubeCall): ApiError | undefined {
    const stored = this.kube.stored(NODES, { name: target });
    if (stored === undefined || patch?.kind !== "strategic") return undefined;
    const { metadata, spec } = patch.body;
    if (!isRecord(metadata) || !isRecord(spec)) return undefined;
    const uid = stringField(recordField(stored, "metadata"), "uid");
    const before = this.rangesOf(target);
    const isOther = before.length > 0 && before.join() !== stringsField(spec, "podCIDRs").join();
    return metadata["uid"] !== uid || isOther ? apiError("invalid") : undefined;
  }

  #answer({ metadata: { name } }: Node): InstanceResult {
    this.asked.push(name);
    const said = this.says.get(name);
    const nowMs = this.clock.nowMs();
    const witness = { provider: "acme", scopeId: "project-1", bootId: "boot-1", receivedAtMs: nowMs };
    if (said instanceof Error) return { kind: "unknown", error: said };
    if (said === "notOwned") return { kind: "notOwned", message: "another's" };
    if (said === "absent") return { kind: "absent", basis: "lookupMiss", observeTimeMs: nowMs, strong: true, witness };
    return { kind: "present", instance: instance({ name, podCidrs: said }), readTimeMs: nowMs, witness };
  }
}

function textOf({ regarding, type, reason, message }: EventInput): string {
  return `${regarding.name}: ${type} ${reason} ${message}`;
}
