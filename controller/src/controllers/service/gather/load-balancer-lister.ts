import type { LoadBalancer } from "../../../provider/model/load-balancer.ts";
import type { Provider } from "../../../provider/model/provider.ts";
import type { Logger } from "../../../telemetry/log.ts";
import type { Clock } from "../../../util/clock.ts";

/** A list this old says nothing about today to whoever takes it for what the cloud has. */
const MAX_AGE_MS = 60_000;

interface Listing {
  readonly startMs: number;
  /** By Service UID. */
  readonly byUid: Promise<Map<string, LoadBalancer>>;
}

/**
 * What a provider has, listed once when this process starts, so that hundreds of Services that need no change are found to be so with
 * one call and not with one each. Each load balancer is handed out once: who asks again wants to know anew.
 */
export class Inventory {
  readonly #clock: Clock;
  readonly #listings = new Map<string, Listing>();
  /** Names of providers. */
  readonly #complete = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** undefined: not listed, too long ago, or not there; ask for it alone. */
  async take(provider: Provider, uid: string, signal: AbortSignal, log: Logger): Promise<LoadBalancer | undefined> {
    const listing = this.#listing(provider, signal, log);
    if (listing === undefined || this.#clock.monotonicMs() - listing.startMs > MAX_AGE_MS) return undefined;
    const byUid = await listing.byUid;
    const loadBalancer = byUid.get(uid);
    byUid.delete(uid);
    return loadBalancer;
  }

  /**
   * What a provider had at the start that does not serve the Service: it can be asked as often as one likes, and however late. What is gone since
   * costs one deletion of nothing.
   */
  async peek(provider: Provider, uid: string, signal: AbortSignal, log: Logger): Promise<LoadBalancer | undefined> {
    return (await this.#listing(provider, signal, log)?.byUid)?.get(uid);
  }

  /** Its list was read at the start and was complete: what it lacks was not there. */
  isListed({ name }: Provider): boolean {
    return this.#complete.has(name);
  }

  #listing(provider: Provider, signal: AbortSignal, log: Logger): Listing | undefined {
    if (provider.info?.capabilities.loadBalancers?.list === undefined) return undefined;
    return this.#listings.get(provider.name) ?? this.#list(provider, signal, log);
  }

  #list(provider: Provider, signal: AbortSignal, log: Logger): Listing {
    const listing = { startMs: this.#clock.monotonicMs(), byUid: this.#listByUid(provider, signal, log) };
    this.#listings.set(provider.name, listing);
    return listing;
  }

  async #listByUid(provider: Provider, signal: AbortSignal, log: Logger): Promise<Map<string, LoadBalancer>> {
    try {
      const { items, complete } = await provider.client.listLoadBalancers({ signal });
      if (complete) this.#complete.add(provider.name);
      return new Map(items.map((loadBalancer) => [loadBalancer.service.uid, loadBalancer]));
    } catch (error) {
      log.info("Load balancers could not be listed; asking for each alone", { provider: provider.name, err: error });
      return new Map();
    }
  }
}
