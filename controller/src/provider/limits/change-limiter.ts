import { type Admission, Semaphore } from "../../util/semaphore.ts";
import type { ChangeOptions, ProviderChanges } from "../model/client.ts";
import type { LoadBalancerCapabilities } from "../model/info.ts";
import type { ServiceRef } from "../model/load-balancer.ts";

/** The lock of all load balancers of a provider that takes one change at a time. */
const ONE_KEY = "provider";

type Changes = Pick<ProviderChanges, "ensureLoadBalancer" | "updateLoadBalancerNodes" | "deleteLoadBalancer">;

/** Limits concurrent changes of load balancers to what the provider allows. proto/README.md LB-14. */
export function limitChanges<Calls extends Changes>(
  calls: Calls,
  capabilities: () => LoadBalancerCapabilities | undefined,
): Calls {
  const lock = new KeyedLock();
  const limited = async <T>(service: ServiceRef, options: ChangeOptions, change: () => Promise<T>): Promise<T> => {
    const declared = capabilities();
    lock.setLimit(Math.max(1, declared?.maxConcurrentChanges ?? 1));
    const leave = await lock.enter(lockOf(declared, service, options.lockKey), {
      priority: options.priority ?? "high",
      signal: options.signal,
      group: service.namespace,
    });
    try {
      options.refuse?.();
      return await change();
    } finally {
      leave();
    }
  };
  return {
    ...calls,
    ensureLoadBalancer: (input, options) =>
      limited(input.service, options, () => calls.ensureLoadBalancer(input, options)),
    updateLoadBalancerNodes: (input, options) =>
      limited(input.service, options, () => calls.updateLoadBalancerNodes(input, options)),
    deleteLoadBalancer: (ref, options) => limited(ref.service, options, () => calls.deleteLoadBalancer(ref, options)),
  };
}

/** Changes with the same lock run one after the other. undefined: the change runs alone. */
function lockOf(
  capabilities: LoadBalancerCapabilities | undefined,
  { namespace, name }: ServiceRef,
  lockKey: string | undefined,
): string | undefined {
  switch (capabilities?.lockScope) {
    case "service":
      return `${namespace}/${name}`;
    case "lockKey":
      return lockKey === undefined || lockKey === "" ? undefined : lockKey;
    case "provider":
    case undefined:
      return ONE_KEY;
  }
  return capabilities?.lockScope satisfies undefined;
}

/** Runs changes of different keys concurrently, changes of one key in sequence, and a change without key alone. */
class KeyedLock {
  readonly #all = new Semaphore(1);
  /** Only one change at a time may collect all places. */
  readonly #alone = new Semaphore(1);
  readonly #keys = new Map<string, Semaphore>();
  #limit = 1;

  /** Ignored while a change runs: one that runs alone holds as many places as the old limit. */
  setLimit(limit: number): void {
    if (limit === this.#limit || this.#all.inside > 0 || this.#alone.inside > 0) return;
    this.#limit = limit;
    this.#all.setLimit(limit);
  }

  /** Resolves with the function that leaves; rejects with the signal's reason. */
  async enter(key: string | undefined, admission: Admission): Promise<() => void> {
    const ways: (() => void)[] = [];
    const leave = (): void => {
      for (const way of ways.splice(0)) way();
    };
    try {
      if (key === undefined) {
        ways.push(await this.#alone.enter(admission));
        for (let place = 0; place < this.#limit; place += 1) ways.push(await this.#all.enter(admission));
      } else {
        ways.push(await this.#enterKey(key, admission));
        ways.push(await this.#all.enter(admission));
      }
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  }

  async #enterKey(key: string, admission: Admission): Promise<() => void> {
    const own = this.#keys.get(key) ?? new Semaphore(1);
    this.#keys.set(key, own);
    const leave = await own.enter(admission);
    return () => {
      leave();
      if (own.inside === 0 && own.waiting === 0) this.#keys.delete(key);
    };
  }
}
