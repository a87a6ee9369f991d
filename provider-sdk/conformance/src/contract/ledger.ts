import type { CallContext } from "@cloudwire/proto/cloudprovider/v1/common";
import type { ServiceRef } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import type { Route } from "@cloudwire/proto/cloudprovider/v1/route";
import type { HookName, HookVariables } from "../check/hooks.ts";
import { methods } from "./methods.ts";

/** Something that an action of the vendor's may have done to the cloud, and what undoes it. */
export interface HookEntry {
  readonly kind: "hook";
  readonly undo: HookName;
  readonly variables: HookVariables;
}

/** Something that a run may have made at the cloud, or done to it. */
export type LedgerEntry =
  | HookEntry
  | { readonly kind: "loadBalancer"; readonly context: CallContext; readonly service: ServiceRef }
  | { readonly kind: "route"; readonly context: CallContext; readonly route: Route };

/** The two kinds of change that make something. */
const { ensureLoadBalancer, batchEnsureRoutes } = methods;
/** And those that need no note, for they make nothing. */
const others = [methods.updateLoadBalancerNodes, methods.deleteLoadBalancer, methods.batchDeleteRoutes] as const;

/**
 * What a run may have made. An entry is there before the call leaves, so that a crash leaves nothing that nobody knows of. Changes for
 * clusters that are not the run's own are a fault of the kit and throw.
 */
export class Ledger {
  readonly #clusterId: string;
  readonly #added: (entry: LedgerEntry) => void;
  readonly #entries = new Map<string, LedgerEntry>();
  readonly #done = new Set<HookEntry>();

  /** `clusterId`: all the run's clusters begin with it. `added` is told of each entry before the call that may make it. */
  constructor(clusterId: string, added: (entry: LedgerEntry) => void) {
    this.#clusterId = clusterId;
    this.#added = added;
  }

  get entries(): readonly LedgerEntry[] {
    return [...this.#entries.values(), ...this.#done];
  }

  /** Takes note of what an action is about to do. */
  note(entry: HookEntry): void {
    this.#done.add(entry);
    this.#added(entry);
  }

  /** It is undone. */
  settle(entry: HookEntry): void {
    this.#done.delete(entry);
  }

  /** Takes note of a change that is about to be asked for. */
  admit(method: string, bytes: Uint8Array): void {
    if (method === ensureLoadBalancer.name) {
      const { context, change, service } = ensureLoadBalancer.requestType.decode(bytes);
      const own = this.#own(context, method);
      if (change?.validateOnly !== true && service !== undefined)
        this.#add(`${own.cluster?.id}/${service.uid}`, { kind: "loadBalancer", context: own, service });
      return;
    }
    if (method === batchEnsureRoutes.name) {
      const { context, change, routes } = batchEnsureRoutes.requestType.decode(bytes);
      const own = this.#own(context, method);
      if (change?.validateOnly === true) return;
      for (const route of routes)
        this.#add(`${own.cluster?.id}/${route.destinationCidr}`, { kind: "route", context: own, route });
      return;
    }
    const other = others.find(({ name }) => name === method);
    if (other !== undefined) this.#own(other.requestType.decode(bytes).context, method);
  }

  #own(context: CallContext | undefined, method: string): CallContext {
    if (context?.cluster?.id.startsWith(this.#clusterId) !== true)
      throw new TypeError(
        `a check called ${method} for cluster "${context?.cluster?.id ?? ""}", which is not the run's`,
      );
    return context;
  }

  #add(key: string, entry: LedgerEntry): void {
    if (this.#entries.has(key)) return;
    this.#entries.set(key, entry);
    this.#added(entry);
  }
}
