import type { CallOptions } from "../../../provider/model/client.ts";
import type { ProviderInfo } from "../../../provider/model/info.ts";
import type { Provider } from "../../../provider/model/provider.ts";
import type { Clock } from "../../../util/clock.ts";
import { LoadBalancerSyncError } from "../errors.ts";

/** What this process has done since the list was made is in its ledger. */
const MAX_AGE_MS = 30_000;

interface Listed {
  readonly startMs: number;
  /** UIDs of Services, by id of the load balancer. */
  readonly uids: ReadonlyMap<string, string>;
}

/** Whose each load balancer is, by the cloud's word: one list for all Services that ask for one that exists, as in a cluster that is rebuilt. */
export class Holders {
  readonly #clock: Pick<Clock, "monotonicMs">;
  /** By what the provider has declared: another process of it may see another cloud. */
  readonly #listed = new WeakMap<ProviderInfo, Listed>();

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  /** UIDs of Services, by id of the load balancer. Throws where the list may lack some. */
  async of({ client }: Provider, info: ProviderInfo, options: CallOptions): Promise<ReadonlyMap<string, string>> {
    const startMs = this.#clock.monotonicMs();
    const listed = this.#listed.get(info);
    if (listed !== undefined && startMs - listed.startMs <= MAX_AGE_MS) return listed.uids;
    const { items, complete } = await client.listLoadBalancers(options);
    if (!complete)
      throw new LoadBalancerSyncError("whose the load balancer is cannot be told: the provider's list is not complete");
    const uids = new Map(items.map(({ id, service }) => [id, service.uid]));
    this.#listed.set(info, { startMs, uids });
    return uids;
  }
}
