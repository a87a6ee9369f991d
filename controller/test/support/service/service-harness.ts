import type { EventInput } from "../../../src/api/event.ts";
import type { Node } from "../../../src/api/node.ts";
import { serviceLb } from "../../../src/controllers/service/controller.ts";
import type { OwnershipRules, Provider } from "../../../src/provider/model/provider.ts";
import { limitChanges } from "../../../src/provider/limits/change-limiter.ts";
import { providerSet } from "../../../src/provider/ownership/provider-set.ts";
import { Metrics } from "../../../src/telemetry/metrics.ts";
import { node } from "../builders.ts";
import { built, controllerContext, REFUSING_CLIENT } from "../controller-context.ts";
import { FakeClock } from "../fake-clock.ts";
import { FakeInformer } from "../kube/fake-informer.ts";
import { FakeLog } from "../fake-log.ts";
import { ServiceStore } from "./service-store.ts";

export const PERIOD_MS = 600_000;

/** service-lb with everything around it in memory. */
export class ServiceHarness implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly log = new FakeLog();
  readonly store = new ServiceStore();
  readonly nodes = new FakeInformer<Node>();
  readonly events: EventInput[] = [];
  metrics = new Metrics();
  rules: OwnershipRules | undefined;
  /** May be changed while the controller runs. */
  readonly options = {
    concurrentServiceSyncs: 2,
    loadBalancerDriftPeriod: PERIOD_MS,
    allowLoadBalancerAdoption: false,
  };
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
    const registered = serviceLb.register(
      controllerContext({
        options: this.options,
        clock,
        log,
        metrics: this.metrics,
        services: store.informer,
        nodes,
        providers: providerSet(providers.map(limited), this.rules),
        client: { ...REFUSING_CLIENT, patch: (resource, name, patch) => store.patch(resource, name, patch) },
        record: (event) => this.events.push(event),
        newId: () => `id-${++this.#ids}`,
        readyListeners: this.#listeners,
      }),
    );
    const controller = built(registered);
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

  get reported(): readonly string[] {
    return this.events.map(({ reason, message }) => `${reason}: ${message}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** As the client of a real provider: changes wait for their turn. */
function limited(provider: Provider): Provider {
  return {
    name: provider.name,
    client: limitChanges(provider.client, () => provider.info?.capabilities.loadBalancers),
    get info() {
      return provider.info;
    },
    get unavailable() {
      return provider.unavailable;
    },
    get untrustedReason() {
      return provider.untrustedReason;
    },
  };
}
