import type { LoadBalancer } from "../../provider/load-balancer.ts";
import type { Provider } from "../../provider/provider-set.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Clock } from "../../util/clock.ts";

/** A list this old says nothing about today. */
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

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** undefined: not listed, too long ago, or not there; ask for it alone. */
  async take(provider: Provider, uid: string, signal: AbortSignal, log: Logger): Promise<LoadBalancer | undefined> {
    if (provider.info?.capabilities.loadBalancers?.list === undefined) return undefined;
    const listing = this.#listings.get(provider.name) ?? this.#list(provider, signal, log);
    if (this.#clock.monotonicMs() - listing.startMs > MAX_AGE_MS) return undefined;
    const byUid = await listing.byUid;
    const loadBalancer = byUid.get(uid);
    byUid.delete(uid);
    return loadBalancer;
  }

  #list(provider: Provider, signal: AbortSignal, log: Logger): Listing {
    const listing = { startMs: this.#clock.monotonicMs(), byUid: listByUid(provider, signal, log) };
    this.#listings.set(provider.name, listing);
    return listing;
  }
}

async function listByUid({ client }: Provider, signal: AbortSignal, log: Logger): Promise<Map<string, LoadBalancer>> {
  try {
    const { items } = await client.listLoadBalancers({ signal });
    return new Map(items.map((loadBalancer) => [loadBalancer.service.uid, loadBalancer]));
  } catch (error) {
    log.info("Load balancers could not be listed; asking for each alone", { err: error });
    return new Map();
  }
}
