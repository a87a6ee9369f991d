import { keyOf } from "../../api/meta.ts";
import type { Service } from "../../api/service.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import type { LoadBalancer } from "../../provider/model/load-balancer.ts";
import type { Provider, ProviderSet } from "../../provider/model/provider.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Ledger } from "./ledger.ts";
import type { ServiceMetrics } from "./metrics.ts";

export interface StraysDependencies {
  readonly services: Lister<Service>;
  readonly providers: ProviderSet;
  readonly ledger: Ledger;
  readonly metrics: Pick<ServiceMetrics, "orphans">;
  /** Makes the Service be looked at. */
  readonly wake: (key: string) => void;
}

/** Two sidecars of one cloud see the same load balancers: what one has is no leftover for the other. */
export function isSamePlace(one: Provider, other: Provider): boolean {
  return one.info?.name === other.info?.name && one.info?.scopeId === other.info?.scopeId;
}

/** A driver that took over from another one: equal ids are one load balancer. Those of one driver are unique within a place alone. */
export function isSuccessor(one: Provider, other: Provider): boolean {
  return one.info?.name !== other.info?.name;
}

/** What lists show that no Service has of that provider: load balancers of Services that another one serves by now, and of none at all. */
export class Strays {
  readonly #deps: StraysDependencies;
  /** By provider: ids seen at its last list; what is seen twice is told. */
  readonly #seen = new Map<string, ReadonlySet<string>>();

  constructor(dependencies: StraysDependencies) {
    this.#deps = dependencies;
  }

  seen(provider: Provider, items: readonly LoadBalancer[], log: Logger): void {
    const services = new Map([...this.#deps.services.list()].map((service) => [service.metadata.uid, service]));
    const orphans = items.filter(({ service, phase }) => !services.has(service.uid) && phase !== "deleting");
    this.#tellOrphans(provider.name, orphans, log);
    for (const item of items) {
      const service = services.get(item.service.uid);
      if (service !== undefined) this.#compare(provider, service, item);
    }
  }

  /** Only reported: whose it was, and whether it may go, is for people to say. */
  #tellOrphans(provider: string, orphans: readonly LoadBalancer[], log: Logger): void {
    const before = this.#seen.get(provider) ?? new Set();
    this.#seen.set(provider, new Set(orphans.map(({ id }) => id)));
    const lasting = orphans.filter(({ id }) => before.has(id));
    this.#deps.metrics.orphans.set({ provider }, lasting.length);
    for (const { id, service } of lasting) {
      log.info("A load balancer of this cluster belongs to no Service; it is left alone", {
        provider,
        loadBalancer: id,
        service: `${service.namespace}/${service.name}`,
        uid: service.uid,
      });
    }
  }

  #compare(provider: Provider, service: Service, { id, phase }: LoadBalancer): void {
    const { providers, ledger, wake } = this.#deps;
    const key = keyOf(service);
    const entry = ledger.entry(key);
    if (entry === undefined || phase === "deleting") return;
    if (entry.provider === provider.name) return;
    const owner = providers.providers.find(({ name }) => name === entry.provider);
    if (owner === undefined || isSamePlace(owner, provider)) return;
    if (entry.loadBalancerId === id && isSuccessor(owner, provider)) return;
    ledger.recordFormer(key, service.metadata.uid, { provider: provider.name, loadBalancerId: id });
    wake(key);
  }
}
