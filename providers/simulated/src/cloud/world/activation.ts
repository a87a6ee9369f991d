import type { Listener, LoadBalancer, LoadBalancerRecord } from "../../api/load-balancers.ts";
import type { BindResult } from "../forwarding/forwarder.ts";
import { loadBalancerKind } from "./kinds.ts";
import { toForwarding } from "./load-balancer-spec.ts";
import { forgetLoadBalancer } from "./load-balancers.ts";
import { endOperation } from "./operations.ts";
import { timestamp, type World } from "./world.ts";

/** When a port that could not be had is tried again. */
const rebindMs = 2000;

/** Brings what is forwarded in line with what is stored: one load balancer at a time, in the order asked. */
export class Activation {
  readonly #world: World;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(world: World) {
    this.#world = world;
  }

  /** After a restart: everything that carried traffic carries it again. */
  async resume(): Promise<void> {
    const all = this.#world.store.everywhere(loadBalancerKind);
    await Promise.all(all.map(async ({ account, resource }) => this.advance(account, resource.id, "resume")));
  }

  /**
   * Carries out what a load balancer waits for, if its time has come; before that, only what its state demands at once.
   * @param callScope after a restart an update under way is finished at once: the state before it is not known any more
   */
  async advance(account: string, id: string, callScope: "change" | "resume" = "change"): Promise<void> {
    const before = this.#underWay.get(id);
    const step = (async () => {
      await before;
      await this.#advance(account, id, callScope);
    })();
    this.#underWay.set(id, step);
    try {
      await step;
    } finally {
      if (this.#underWay.get(id) === step) this.#underWay.delete(id);
    }
  }

  async #advance(account: string, id: string, callScope: "change" | "resume"): Promise<void> {
    const { store, forwarder, clock } = this.#world;
    const record = store.get(loadBalancerKind, account, id);
    if (!record) return;
    const dueMs = store.dueOf(loadBalancerKind, account, id);
    const isDue = dueMs === undefined || dueMs <= clock.now();
    switch (record.state) {
      case "deleting":
        await forwarder.remove(id);
        if (isDue) forgetLoadBalancer(this.#world, account, id);
        return;
      case "provisioning":
        if (isDue) await this.#activate(account, record);
        return;
      case "updating":
        if (isDue || callScope === "resume") await this.#activate(account, record);
        return;
      case "active":
      case "failed":
        await this.#activate(account, record);
        return;
    }
    record.state satisfies never;
  }

  async #activate(account: string, wanted: LoadBalancer): Promise<void> {
    const { store, forwarder, clock, database } = this.#world;
    const results = await forwarder.apply(toForwarding(account, wanted));
    // The load balancer may have been changed while ports were being bound.
    const latest = store.get(loadBalancerKind, account, wanted.id);
    if (!latest || latest.state === "deleting") {
      await forwarder.remove(wanted.id);
      return;
    }
    const { revision: _, operationId, ...record } = latest;
    const listeners = record.listeners.map((listener) => withResult(listener, results.get(listener.boundPort)));
    if (listeners.some((listener) => listener.status === "pending")) {
      await this.#activate(account, latest);
      return;
    }
    const failures = listeners.filter((listener) => listener.status === "failed").map((listener) => listener.reason);
    const settled: LoadBalancerRecord = {
      ...record,
      listeners,
      state: failures.length === 0 ? "active" : "failed",
      stateReason: failures.join("; "),
    };
    const retryMs = failures.length === 0 ? undefined : clock.now() + rebindMs;
    database.transaction(() => {
      if (isUnchanged(settled, latest)) {
        store.setDue(loadBalancerKind, account, wanted.id, retryMs);
        return;
      }
      store.put(loadBalancerKind, account, { ...settled, updatedAt: timestamp(clock.now()) }, retryMs);
      endOperation(this.#world, account, operationId, failures.length === 0 ? "done" : "failed", settled.stateReason);
    });
  }
}

const withResult = (listener: Listener, result: BindResult | undefined): Listener => {
  const { reason: _, ...rest } = listener;
  if (!result) return { ...rest, status: "pending" };
  if (result.kind === "listening") return { ...rest, status: "listening" };
  return { ...rest, status: "failed", reason: result.reason };
};

/** A failed retry of a port, or a bind after a restart, causes no event. */
const isUnchanged = (settled: LoadBalancerRecord, latest: LoadBalancer): boolean =>
  latest.operationId === undefined &&
  settled.state === latest.state &&
  settled.stateReason === latest.stateReason &&
  settled.listeners.every((listener, index) => listener.status === latest.listeners[index]?.status);
