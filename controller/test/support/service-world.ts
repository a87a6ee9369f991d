import type { EventInput } from "../../src/api/event.ts";
import type { Node } from "../../src/api/node.ts";
import { serviceLbController } from "../../src/controllers/service/controller.ts";
import { serviceMetrics } from "../../src/controllers/service/metrics.ts";
import type { OwnershipRules, Provider } from "../../src/provider/model/provider.ts";
import { PrefixProviderSet } from "../../src/provider/ownership/provider-set.ts";
import { Metrics } from "../../src/telemetry/metrics.ts";
import { NO_TRACING } from "../../src/telemetry/tracing.ts";
import { NO_QUEUE_METRICS } from "../../src/workqueue/metrics.ts";
import { node } from "./builders.ts";
import { FakeClock } from "./fake-clock.ts";
import { FakeInformer } from "./fake-informer.ts";
import { FakeLog } from "./fake-log.ts";
import { ServiceStore } from "./service-store.ts";

export const PERIOD_MS = 600_000;

/** service-lb with everything around it in memory. */
export class ServiceWorld implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly log = new FakeLog();
  readonly store = new ServiceStore();
  readonly nodes = new FakeInformer<Node>();
  readonly events: EventInput[] = [];
  metrics = new Metrics();
  rules: OwnershipRules | undefined;
  /** Of --load-balancer-drift-period; may be changed while the controller runs. */
  driftPeriodMs = PERIOD_MS;
  /** Of --adopt-load-balancers; the same. */
  adoptsLoadBalancers = false;
  providers: readonly Provider[] = [];
  readonly #listeners = new Set<() => void>();
  #life = new AbortController();
  #ended: Promise<void> = Promise.resolve();
  #ids = 0;

  async start(providers: readonly Provider[]): Promise<this> {
    this.providers = providers;
    this.#life = new AbortController();
    this.metrics = new Metrics();
    const { clock, log, store, nodes } = this;
    const driftPeriodMs = (): number => this.driftPeriodMs;
    const adoptsLoadBalancers = (): boolean => this.adoptsLoadBalancers;
    const controller = serviceLbController({
      services: store.informer,
      nodes,
      providers: new PrefixProviderSet(providers, this.rules),
      kube: store,
      events: { record: (event) => this.events.push(event) },
      clock,
      random: () => 0.5,
      newId: () => `id-${++this.#ids}`,
      log,
      metrics: serviceMetrics(this.metrics),
      queueMetrics: NO_QUEUE_METRICS,
      tracing: NO_TRACING,
      controllerMetrics: { running: () => undefined, reconciled: () => undefined },
      onProviderReady: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
      settings: {
        workers: 2,
        get driftPeriodMs() {
          return driftPeriodMs();
        },
        get adoptsLoadBalancers() {
          return adoptsLoadBalancers();
        },
        loadBalancers: { tags: {} },
      },
    });
    this.#ended = controller.run({ stop: this.#life.signal, abort: this.#life.signal });
    await this.pass(1000);
    return this;
  }

  /** A process that takes over: it knows nothing of the one before. */
  async restart(providers = this.providers): Promise<void> {
    await this.stop();
    await this.start(providers);
  }

  async stop(): Promise<void> {
    this.#life.abort(new Error("the process ends"));
    await this.pass(1000);
    await this.#ended;
  }

  ready(): void {
    for (const listener of this.#listeners) listener();
  }

  pass(byMs: number): Promise<void> {
    return this.clock.advance(byMs);
  }

  node(name: string): void {
    this.nodes.set(node(name, { spec: { providerID: `acme://${name}` } }));
  }

  get told(): readonly string[] {
    return this.events.map(({ reason, message }) => `${reason}: ${message}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
