import type { LoadBalancerCapabilities } from "../../provider/provider-info.ts";
import type { Provider } from "../../provider/provider-set.ts";
import type { ReconcileContext } from "../../runtime/reconciler.ts";
import { Semaphore } from "../../util/semaphore.ts";

/** Lets no more changes of load balancers run at once than their provider allows. proto/README.md LB-14. */
export class ChangeGate {
  readonly #gates = new Map<string, Semaphore>();

  async run<T>(
    { name, info }: Provider,
    { priority, signal }: Pick<ReconcileContext, "priority" | "signal">,
    change: () => Promise<T>,
  ): Promise<T> {
    const gate = this.#gates.get(name) ?? new Semaphore(1);
    this.#gates.set(name, gate);
    gate.setLimit(changesAtOnce(info?.capabilities.loadBalancers));
    const leave = await gate.enter(priority, signal);
    try {
      return await change();
    } finally {
      leave();
    }
  }
}

/** Load balancers that share a cloud object are known only afterwards, so one at a time is the safe reading of `lockKey` too. */
function changesAtOnce(capabilities: LoadBalancerCapabilities | undefined): number {
  if (capabilities === undefined || capabilities.lockScope !== "service") return 1;
  return Math.max(1, capabilities.maxConcurrentChanges);
}
