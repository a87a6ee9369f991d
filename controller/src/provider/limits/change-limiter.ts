import { type Priority, Semaphore } from "../../util/semaphore.ts";
import type { LoadBalancerCapabilities } from "../model/info.ts";
import type { Provider } from "../model/provider.ts";

/** Every load balancer of a provider that takes one change at a time. */
const ONE_KEY = "provider";

/** Whose change it is, and how long it may wait. */
interface ChangeTurn {
  /** `namespace/name` of the Service. */
  readonly key: string;
  readonly priority: Priority;
  readonly signal: AbortSignal;
}

/** Lets no more changes of load balancers run at once than their provider allows. proto/README.md LB-14. */
export class ChangeLimiter {
  readonly #locks = new Map<string, KeyedLock>();

  /** @param lockKey of the load balancer, by its provider; undefined: there is none yet, or it is not known */
  async run<T>(
    { name, info }: Provider,
    { key, priority, signal }: ChangeTurn,
    lockKey: string | undefined,
    change: () => Promise<T>,
  ): Promise<T> {
    const lock = this.#locks.get(name) ?? new KeyedLock();
    this.#locks.set(name, lock);
    const capabilities = info?.capabilities.loadBalancers;
    lock.setLimit(Math.max(1, capabilities?.maxConcurrentChanges ?? 1));
    const leave = await lock.enter(lockOf(capabilities, key, lockKey), priority, signal);
    try {
      return await change();
    } finally {
      leave();
    }
  }
}

/** What must not be changed at once has one lock; undefined: it may share with any other. */
function lockOf(
  capabilities: LoadBalancerCapabilities | undefined,
  key: string,
  lockKey: string | undefined,
): string | undefined {
  switch (capabilities?.lockScope) {
    case "service":
      return key;
    case "lockKey":
      return lockKey === undefined || lockKey === "" ? undefined : lockKey;
    case "provider":
    case undefined:
      return ONE_KEY;
  }
  return capabilities?.lockScope satisfies undefined;
}

/** Lets changes of different keys run at once, of one key one at a time, and one whose key is not known by itself: it may be anybody's. */
class KeyedLock {
  readonly #all = new Semaphore(1);
  /** Of those who need the whole lock only one collects places. */
  readonly #alone = new Semaphore(1);
  readonly #keys = new Map<string, Semaphore>();
  #limit = 1;

  /** Takes effect while nobody is inside: whoever is alone holds as many places as there were. */
  setLimit(limit: number): void {
    if (limit === this.#limit || this.#all.inside > 0 || this.#alone.inside > 0) return;
    this.#limit = limit;
    this.#all.setLimit(limit);
  }

  /** Resolves with the way out; rejects with the signal's reason. */
  async enter(key: string | undefined, priority: Priority, signal: AbortSignal): Promise<() => void> {
    const ways: (() => void)[] = [];
    const leave = (): void => {
      for (const way of ways.splice(0)) way();
    };
    try {
      if (key === undefined) {
        ways.push(await this.#alone.enter(priority, signal));
        for (let place = 0; place < this.#limit; place += 1) ways.push(await this.#all.enter(priority, signal));
      } else {
        ways.push(await this.#enterKey(key, priority, signal));
        ways.push(await this.#all.enter(priority, signal));
      }
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  }

  async #enterKey(key: string, priority: Priority, signal: AbortSignal): Promise<() => void> {
    const own = this.#keys.get(key) ?? new Semaphore(1);
    this.#keys.set(key, own);
    const leave = await own.enter(priority, signal);
    return () => {
      leave();
      if (own.inside === 0 && own.waiting === 0) this.#keys.delete(key);
    };
  }
}
