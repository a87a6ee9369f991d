import type { LoadBalancerCapabilities } from "../model/info.ts";
import type { Provider } from "../model/provider.ts";
import type { ReconcileContext } from "../../runtime/reconciler.ts";
import { KeyedGate } from "./change-limiter.ts";

/** Every load balancer of a provider that takes one change at a time. */
const ONE_KEY = "provider";

/** Lets no more changes of load balancers run at once than their provider allows. proto/README.md LB-14. */
export class ChangeGate {
  readonly #gates = new Map<string, KeyedGate>();

  /** @param lockKey of the load balancer, by its provider; undefined: there is none yet, or it is not known */
  async run<T>(
    { name, info }: Provider,
    { key, priority, signal }: Pick<ReconcileContext, "key" | "priority" | "signal">,
    lockKey: string | undefined,
    change: () => Promise<T>,
  ): Promise<T> {
    const gate = this.#gates.get(name) ?? new KeyedGate();
    this.#gates.set(name, gate);
    const capabilities = info?.capabilities.loadBalancers;
    gate.setLimit(Math.max(1, capabilities?.maxConcurrentChanges ?? 1));
    const leave = await gate.enter(lockOf(capabilities, key, lockKey), priority, signal);
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
