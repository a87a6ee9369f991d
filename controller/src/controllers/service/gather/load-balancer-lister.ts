import type { CallOptions, Listing } from "../../../provider/model/client.ts";
import type { ProviderInfo } from "../../../provider/model/info.ts";
import type { LoadBalancer } from "../../../provider/model/load-balancer.ts";
import type { ReadableProvider } from "../../../provider/model/provider.ts";
import type { Logger } from "../../../telemetry/log.ts";
import type { Clock } from "../../../util/clock.ts";

/** An older list does not count as the present state of a load balancer. */
const MAX_AGE_MS = 60_000;

/** `absent`: a complete list lacks the Service. */
export type Found = { readonly kind: "present"; readonly loadBalancer: LoadBalancer } | { readonly kind: "absent" };

export interface LoadBalancerList extends Pick<Listing<LoadBalancer>, "items" | "complete"> {
  /** Monotonic. */
  readonly startMs: number;
  readonly byUid: ReadonlyMap<string, LoadBalancer>;
}

interface Request {
  readonly startMs: number;
  /** Of the process that was called. */
  readonly info: ProviderInfo | undefined;
  /** If this request fails: that of the previous request. undefined: it failed, and is retried when a new list is needed. */
  readonly list: Promise<LoadBalancerList | undefined>;
}

/** One list for all Services of a provider: after a restart, and for each sweep. */
export class LoadBalancerLister {
  readonly #clock: Pick<Clock, "monotonicMs">;
  /** By provider. */
  readonly #requests = new Map<string, Request>();

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  /**
   * undefined: unknown, the Service must be read alone.
   * @param readAfterMs the list must be newer than this, and less than a minute old. undefined: of any age.
   */
  async find(
    provider: ReadableProvider,
    uid: string,
    readAfterMs: number | undefined,
    context: { readonly signal: AbortSignal; readonly log: Logger },
  ): Promise<Found | undefined> {
    if (provider.info?.capabilities.loadBalancers?.list === undefined) return undefined;
    const request = this.#requests.get(provider.name) ?? this.#first(provider, context);
    if (this.#isTooOld(request, readAfterMs)) return undefined;
    const list = await request.list;
    if (list === undefined || this.#isTooOld(list, readAfterMs)) return undefined;
    const loadBalancer = list.byUid.get(uid);
    if (loadBalancer !== undefined) return { kind: "present", loadBalancer };
    return list.complete ? { kind: "absent" } : undefined;
  }

  /** A list that was requested at most `maxAgeMs` ago. Throws if there is none and the provider fails. */
  async list(provider: ReadableProvider, maxAgeMs: number, options: CallOptions): Promise<LoadBalancerList> {
    const last = this.#requests.get(provider.name);
    const isYoung = ({ startMs }: { readonly startMs: number }): boolean => this.#ageMs(startMs) <= maxAgeMs;
    const known = last !== undefined && last.info === provider.info && isYoung(last) ? await last.list : undefined;
    if (known?.complete === true && isYoung(known)) return known;
    const startMs = this.#clock.monotonicMs();
    const listing = this.#list(provider, startMs, options);
    const list = listing.catch(() => last?.list);
    this.#requests.set(provider.name, { startMs, info: provider.info, list });
    return listing;
  }

  #first(provider: ReadableProvider, { signal, log }: { readonly signal: AbortSignal; readonly log: Logger }): Request {
    const startMs = this.#clock.monotonicMs();
    const list = this.#list(provider, startMs, { signal }).catch((error: unknown) => {
      log.info("Could not list load balancers; reading them one by one", { provider: provider.name, err: error });
      return undefined;
    });
    const request = { startMs, info: provider.info, list };
    this.#requests.set(provider.name, request);
    return request;
  }

  async #list(provider: ReadableProvider, startMs: number, options: CallOptions): Promise<LoadBalancerList> {
    const { items, complete } = await provider.client.listLoadBalancers(options);
    return { startMs, items, complete, byUid: new Map(items.map((item) => [item.service.uid, item])) };
  }

  #isTooOld({ startMs }: { readonly startMs: number }, readAfterMs: number | undefined): boolean {
    return readAfterMs !== undefined && (startMs <= readAfterMs || this.#ageMs(startMs) > MAX_AGE_MS);
  }

  #ageMs(startMs: number): number {
    return this.#clock.monotonicMs() - startMs;
  }
}
