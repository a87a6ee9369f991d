import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import { ENDPOINT_SLICES, SERVICE_CIDRS } from "../../kube/resources/cluster-addresses.ts";
import type { Cidr } from "../../util/cidr.ts";
import { parseAddress, parseCidr } from "../../util/cidr.ts";
import type { Clock } from "../../util/clock.ts";
import { messageOf } from "../../util/errors.ts";
import type { ClusterAddresses } from "./plan/reserved.ts";

/** Service ranges and API servers rarely change. Requests that arrive together share one read. */
const MAX_AGE_MS = 30_000;

/** Reads the addresses that belong to the cluster, not to an instance. */
export class ClusterAddressReader {
  readonly #kube: Pick<KubeClient, "get" | "list">;
  readonly #clock: Clock;
  #last: { readonly atMs: number; readonly read: Promise<ClusterAddresses> } | undefined;

  constructor(kube: Pick<KubeClient, "get" | "list">, clock: Clock) {
    this.#kube = kube;
    this.#clock = clock;
  }

  async read(signal: AbortSignal): Promise<ClusterAddresses> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#last === undefined || nowMs - this.#last.atMs > MAX_AGE_MS) {
      this.#last = { atMs: nowMs, read: this.#read(signal) };
    }
    const addresses = await this.#last.read;
    if (addresses.kind === "unknown") this.#last = undefined;
    return addresses;
  }

  async #read(signal: AbortSignal): Promise<ClusterAddresses> {
    try {
      const [ranges, servers] = await Promise.all([this.#serviceRanges(signal), this.#apiServers(signal)]);
      return {
        kind: "known",
        services: ranges.flatMap(known(parseCidr)),
        apiServers: servers.flatMap(known(parseAddress)),
      };
    } catch (error) {
      return { kind: "unknown", message: messageOf(error) };
    }
  }

  async #serviceRanges(signal: AbortSignal): Promise<readonly string[]> {
    const { items } = await this.#kube.list(SERVICE_CIDRS, { signal });
    return items.flat();
  }

  async #apiServers(signal: AbortSignal): Promise<readonly string[]> {
    try {
      return await this.#kube.get(ENDPOINT_SLICES, { namespace: "default", name: "kubernetes" }, { signal });
    } catch (error) {
      if (isApiError(error, "notFound")) return [];
      throw error;
    }
  }
}

function known(parse: (text: string) => Cidr | undefined): (text: string) => readonly Cidr[] {
  return (text) => {
    const cidr = parse(text);
    return cidr === undefined ? [] : [cidr];
  };
}
