import { allowList } from "../addresses.ts";
import { Health, type HealthCheck } from "./health.ts";
import { type DialLimits, Listener, type Traffic } from "./listener.ts";

export interface ForwardingListener {
  readonly boundPort: number;
  readonly targetPort: number;
}

/** What has to be forwarded for one load balancer. */
export interface Forwarding {
  readonly id: string;
  readonly account: string;
  readonly address: string;
  readonly listeners: readonly ForwardingListener[];
  readonly sourceRanges: readonly string[];
  readonly sticky: boolean;
  readonly idleTimeoutMs: number;
  readonly healthCheck: HealthCheck | undefined;
}

export type BindResult = { readonly kind: "listening" } | { readonly kind: "failed"; readonly reason: string };

export interface ForwarderOptions {
  readonly targetsOf: (loadBalancerId: string) => readonly string[];
  readonly addressOf: (account: string, instanceId: string) => string | undefined;
  readonly limits: DialLimits;
  readonly now: () => number;
}

interface Forwarded {
  forwarding: Forwarding;
  isAllowed: (clientAddress: string) => boolean;
  readonly listeners: Map<number, Listener>;
}

/** The data plane: real TCP from the load balancers' addresses to the targets'. */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #forwarded = new Map<string, Forwarded>();
  /** Read when the first connection asks: most load balancers of a large cloud have none. */
  readonly #targets = new Map<string, readonly string[]>();
  readonly #health: Health;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#health = new Health({ now: options.now, freshMs: 1000, timeoutMs: options.limits.connectTimeoutMs });
  }

  /** Brings the listeners of one load balancer to what is wanted. Calls for one load balancer must not overlap. */
  async apply(forwarding: Forwarding): Promise<ReadonlyMap<number, BindResult>> {
    const forwarded = this.#forwarded.get(forwarding.id) ?? {
      forwarding,
      isAllowed: () => false,
      listeners: new Map<number, Listener>(),
    };
    forwarded.forwarding = forwarding;
    forwarded.isAllowed = allowList(forwarding.sourceRanges);
    this.#forwarded.set(forwarding.id, forwarded);
    const wanted = new Set(forwarding.listeners.map((listener) => listener.boundPort));
    for (const [boundPort, listener] of forwarded.listeners) {
      if (wanted.has(boundPort)) continue;
      forwarded.listeners.delete(boundPort);
      await listener.close();
    }
    const results = new Map<number, BindResult>();
    for (const boundPort of wanted) results.set(boundPort, await this.#bind(forwarded, boundPort));
    return results;
  }

  /** The next connection reads the targets again; open connections stay. */
  targetsChanged(id: string): void {
    this.#targets.delete(id);
  }

  /** Ends all ports and connections of a load balancer. */
  async remove(id: string): Promise<void> {
    const forwarded = this.#forwarded.get(id);
    this.#forwarded.delete(id);
    this.#targets.delete(id);
    await Promise.all([...(forwarded?.listeners.values() ?? [])].map(async (listener) => listener.close()));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#forwarded.keys()].map(async (id) => this.remove(id)));
  }

  async #bind(forwarded: Forwarded, boundPort: number): Promise<BindResult> {
    if (forwarded.listeners.has(boundPort)) return { kind: "listening" };
    const { id, address } = forwarded.forwarding;
    const listener = new Listener(this.#trafficOf(forwarded, boundPort), this.#options.limits, this.#options.now);
    try {
      await listener.listen(address, boundPort);
    } catch (error) {
      return { kind: "failed", reason: bindFailure(error, `${address}:${boundPort}`) };
    }
    if (this.#forwarded.get(id) !== forwarded) {
      await listener.close();
      return { kind: "failed", reason: "the load balancer was removed meanwhile" };
    }
    forwarded.listeners.set(boundPort, listener);
    return { kind: "listening" };
  }

  #targetsOf(id: string): readonly string[] {
    const known = this.#targets.get(id) ?? this.#options.targetsOf(id);
    this.#targets.set(id, known);
    return known;
  }

  #trafficOf(forwarded: Forwarded, boundPort: number): Traffic {
    const { id, account } = forwarded.forwarding;
    return {
      targets: () => this.#targetsOf(id),
      addressOf: (instanceId) => this.#options.addressOf(account, instanceId),
      isHealthy: async (host) => {
        const { healthCheck } = forwarded.forwarding;
        return healthCheck === undefined || this.#health.isHealthy(host, healthCheck);
      },
      isAllowed: (clientAddress) => forwarded.isAllowed(clientAddress),
      isSticky: () => forwarded.forwarding.sticky,
      targetPort: () =>
        forwarded.forwarding.listeners.find((listener) => listener.boundPort === boundPort)?.targetPort ?? 0,
      idleTimeoutMs: () => forwarded.forwarding.idleTimeoutMs,
    };
  }
}

const bindFailure = (error: unknown, place: string): string => {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") return `PortInUse: another process listens on ${place}`;
  if (code === "EACCES") {
    return `PortNotPermitted: the cloud may not listen on ${place}; run it as root or with --listen-port-offset`;
  }
  if (code === "EADDRNOTAVAIL") {
    return `AddressNotAvailable: this machine has no address ${place}; only Linux has all of 127.0.0.0/8, see --load-balancer-pool`;
  }
  return `cannot listen on ${place}: ${error instanceof Error ? error.message : String(error)}`;
};
