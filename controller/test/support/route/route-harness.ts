import type { EventInput } from "../../../src/api/event.ts";
import type { Node, NodeAddress, NodeSpec } from "../../../src/api/node.ts";
import { nodeRoute } from "../../../src/controllers/route/controller.ts";
import { NODES } from "../../../src/kube/resources/node.ts";
import type { InstanceResult } from "../../../src/provider/model/instance.ts";
import type { ProviderInfo } from "../../../src/provider/model/info.ts";
import { Metrics } from "../../../src/telemetry/metrics.ts";
import { isRecord, type JsonRecord } from "../../../src/util/json.ts";
import { node as nodeOf } from "../builders.ts";
import { built, controllerContext } from "../controller-context.ts";
import { FakeClock } from "../fake-clock.ts";
import { FakeInformer } from "../kube/fake-informer.ts";
import { FakeKube } from "../kube/fake-kube.ts";
import { FakeLog } from "../fake-log.ts";
import { RouteCloud, routesInfo } from "./route-cloud.ts";

export const MINUTE_MS = 60_000;
/** From one full pass to the next. */
export const PERIOD_MS = 5 * MINUTE_MS;

/** What {@link RouteHarness.condition} answers. */
export const ROUTED = "NetworkUnavailable|False|RouteCreated|RouteController created a route";
export const UNROUTED = "NetworkUnavailable|True|NoRouteCreated|RouteController failed to create a route";

/** One controller with everything around it in memory. */
export class RouteHarness implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly log = new FakeLog();
  readonly kube = new FakeKube();
  readonly cloud: RouteCloud;
  /** By name of their provider, which is the prefix of their provider IDs. */
  readonly otherClouds: Record<string, RouteCloud> = {};
  readonly nodes = new FakeInformer<Node>();
  /** May be changed while the controller runs. */
  readonly options = {
    configureCloudRoutes: true,
    clusterCidr: "10.120.0.0/16,fd00::/48",
    routeReconciliationPeriod: PERIOD_MS,
    controllers: ["*"],
    allocateNodeCidrs: false,
    cidrAllocatorType: "RangeAllocator",
    nodeCidrMaskSize: 0,
    nodeCidrMaskSizeIpv4: 0,
    nodeCidrMaskSizeIpv6: 0,
  };
  readonly events: EventInput[] = [];
  metrics = new Metrics();
  readonly #listeners = new Set<() => void>();
  #life = new AbortController();
  declared: ProviderInfo | undefined = routesInfo();
  lookUp: InstanceResult | undefined;
  running: boolean | undefined;
  #versions = 0;
  #ended: Promise<void> = Promise.resolve();

  constructor(cloud = new RouteCloud()) {
    this.cloud = cloud;
  }

  /** A process that takes over: it knows nothing of the one before. */
  async restart(): Promise<void> {
    await this[Symbol.asyncDispose]();
    this.#life = new AbortController();
    this.metrics = new Metrics();
    await this.start();
  }

  async start(): Promise<this> {
    const declared = (): ProviderInfo | undefined => this.declared;
    const provider = {
      ...this.cloud.provider(),
      get info() {
        return declared();
      },
    };
    const others = Object.entries(this.otherClouds).map(([name, cloud]) =>
      cloud.provider(name, { ...routesInfo(), providerIdPrefixes: [`${name}://`] }),
    );
    const registered = nodeRoute.register(
      controllerContext({
        options: this.options,
        clock: this.clock,
        log: this.log,
        metrics: this.metrics,
        nodes: this.nodes,
        providers: [provider, ...others],
        instances: { get: async () => this.lookUp ?? { kind: "notOwned", message: "not scripted" } },
        client: this.kube,
        record: (event) => this.events.push(event),
        controllerMetrics: {
          running: (isRunning) => {
            this.running = isRunning;
          },
        },
        readyListeners: this.#listeners,
      }),
    );
    const controller = built(registered);
    this.#ended = controller.run({ stop: this.#life.signal, abort: this.#life.signal });
    await this.pass(1000);
    return this;
  }

  /** Counted reconciles, by `trigger outcome`. */
  async syncs(): Promise<Readonly<Record<string, number>>> {
    const text = await this.metrics.text();
    const series = text.matchAll(/^route_controller_route_sync_total\{trigger="(\w+)",outcome="(\w+)"\} (\d+)$/gm);
    return Object.fromEntries(
      [...series].map(([, trigger, outcome, count]) => [`${trigger} ${outcome}`, Number(count)]),
    );
  }

  ready(): void {
    for (const listener of this.#listeners) listener();
  }

  pass(byMs: number): Promise<void> {
    return this.clock.advance(byMs);
  }

  /** A Node as the server stores it; what is written to it later comes back as a change. */
  node(name: string, spec: Partial<NodeSpec>, addresses: readonly NodeAddress[] = []): void {
    const whole = { providerID: `acme://${name}`, ...spec };
    this.kube.seed(NODES, { metadata: { name, uid: `uid-${name}` }, spec: whole, status: { addresses } });
    const metadata = { resourceVersion: `v${++this.#versions}` };
    this.nodes.set(nodeOf(name, { metadata, spec: whole, status: { addresses } }));
  }

  /** A Node that the server has and the cache has not heard of. */
  unheard(name: string, spec: Partial<NodeSpec>): void {
    this.kube.seed(NODES, { metadata: { name, uid: `uid-${name}` }, spec: { providerID: `acme://${name}`, ...spec } });
  }

  remove(name: string): void {
    this.kube.unseed(NODES, { name });
    this.nodes.delete(name);
  }

  /** The last condition written to the node: status and reason. */
  condition(name: string): string | undefined {
    const written = this.kube.writes
      .filter(({ target }) => target === `nodes/${name}/status`)
      .flatMap(({ patch }) => (patch?.kind === "strategic" ? [conditionText(patch.body)] : []));
    return written.at(-1);
  }

  get eventTexts(): readonly string[] {
    return this.events.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#life.abort(new Error("the test is over"));
    // Reconciles in hand end with the calls that they wait for.
    await this.clock.advance(1000);
    await this.#ended;
  }
}

function conditionText({ status }: JsonRecord): string {
  const [condition] = isRecord(status) && Array.isArray(status["conditions"]) ? status["conditions"] : [];
  const { type, status: value, reason, message } = condition;
  return [type, value, reason, message].join("|");
}
