import type { CallContext } from "@cloudwire/proto/cloudprovider/v1/common";
import type { ServiceRef } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import type { Route } from "@cloudwire/proto/cloudprovider/v1/route";
import { methods } from "../contract/methods.ts";
import type { AdmittedChange, ChangeRecorder } from "../endpoint/caller.ts";
import type { Outcome } from "../endpoint/exchange.ts";
import { codeName } from "../endpoint/status.ts";
import { CheckSkipped } from "./check.ts";
import type { HookName, HookVariables } from "./hooks.ts";

/** Something that an action of the vendor's may have done to the cloud, and what undoes it. */
export interface HookEntry {
  readonly kind: "hook";
  readonly undo: HookName;
  readonly variables: HookVariables;
}

/** A load balancer, with what some providers need to find it. */
export interface BalancerEntry {
  readonly kind: "loadBalancer";
  readonly context: CallContext;
  readonly service: ServiceRef;
  readonly class?: string | undefined;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Something that a run may have created in the cloud, or done to it. */
export type CreatedResource =
  | HookEntry
  | BalancerEntry
  | { readonly kind: "route"; readonly context: CallContext; readonly route: Route };

/** With this every cluster of a run begins: nothing else is ever cleaned up. */
export const clusterPrefix = "conformance-";

/** Every cluster that a run pretends to be: its own, and one beside it. */
export const clustersOf = (runId: string): readonly string[] =>
  ["", "-other"].map((suffix) => clusterPrefix + runId + suffix);

/** The two kinds of change that make something. */
const { ensureLoadBalancer, batchEnsureRoutes } = methods;
/** And those that need no note, for they make nothing. */
const others = [methods.updateLoadBalancerNodes, methods.deleteLoadBalancer, methods.batchDeleteRoutes] as const;

/** What is reported with an entry: its check, and how much is in the cloud with it. */
export interface MadeBy {
  readonly check: string;
  readonly atOnce: number;
}

/**
 * What a run may have created. An entry exists before the call is sent, so that a crash leaves nothing unrecorded. Changes for
 * clusters that are not the run's own are a fault of the kit and throw.
 */
export class CreatedResources implements ChangeRecorder {
  readonly #clusterId: string;
  readonly #added: (entry: CreatedResource, by: MadeBy) => void;
  readonly #present: Present;
  readonly #entries = new Map<string, CreatedResource>();
  readonly #done = new Set<HookEntry>();

  /**
   * `clusterId`: all the run's clusters begin with it. `added` gets each entry before the call that may create it. `limit`: how much may be
   * in the cloud at once.
   */
  constructor(clusterId: string, added: (entry: CreatedResource, by: MadeBy) => void, limit?: number) {
    this.#clusterId = clusterId;
    this.#added = added;
    this.#present = new Present(limit);
  }

  get entries(): readonly CreatedResource[] {
    return [...this.#entries.values(), ...this.#done];
  }

  /** Takes note of what an action is about to do. */
  note(entry: HookEntry): void {
    this.#done.add(entry);
    this.#added(entry, { check: "", atOnce: this.#present.count });
  }

  /** It is undone. */
  settle(entry: HookEntry): void {
    this.#done.delete(entry);
  }

  /** Takes note of a change that a check is about to ask for. Throws a CheckSkipped where it would make more than may be. */
  admit(method: string, request: Uint8Array, check: string): AdmittedChange {
    const entries = this.#madeBy(method, request);
    const fresh = this.#present.making([...entries.keys()]);
    for (const [key, entry] of entries) this.#add(key, entry, check);
    return { method, request, fresh };
  }

  /** How an admitted change ended: what is refused or deleted is not there. */
  ended({ method, request, fresh }: AdmittedChange, outcome: Outcome<unknown>): void {
    if (outcome.kind === "error") this.#present.refused(fresh, outcome.error.code);
    if (outcome.kind === "ok") this.#present.gone(goneBy(method, request, outcome.bytes));
  }

  /** By key, all that a change may make. */
  #madeBy(method: string, request: Uint8Array): ReadonlyMap<string, CreatedResource> {
    if (method === ensureLoadBalancer.name) {
      const { context, change, service, spec } = ensureLoadBalancer.requestType.decode(request);
      const own = this.#own(context, method);
      if (change?.validateOnly === true || service === undefined) return new Map();
      const { class: name, annotations = {} } = spec ?? {};
      const entry: BalancerEntry = { kind: "loadBalancer", context: own, service, class: name, annotations };
      return new Map([[balancerKey(own, service.uid), entry]]);
    }
    if (method === batchEnsureRoutes.name) {
      const { context, change, routes } = batchEnsureRoutes.requestType.decode(request);
      const own = this.#own(context, method);
      if (change?.validateOnly === true) return new Map();
      return new Map(routes.map((route) => [routeKey(own, route), { kind: "route", context: own, route }]));
    }
    const other = others.find(({ name }) => name === method);
    if (other !== undefined) this.#own(other.requestType.decode(request).context, method);
    return new Map();
  }

  #own(context: CallContext | undefined, method: string): CallContext {
    if (context?.cluster?.id.startsWith(this.#clusterId) !== true)
      throw new TypeError(
        `a check called ${method} for cluster "${context?.cluster?.id ?? ""}", which is not the run's`,
      );
    return context;
  }

  #add(key: string, entry: CreatedResource, check: string): void {
    if (this.#entries.has(key)) return;
    this.#entries.set(key, entry);
    this.#added(entry, { check, atOnce: this.#present.count });
  }
}

const balancerKey = (context: CallContext | undefined, uid: string): string => `${context?.cluster?.id}/${uid}`;
const routeKey = (context: CallContext | undefined, { destinationCidr }: Route): string =>
  `${context?.cluster?.id}/${destinationCidr}`;

/** Keys of what an answer says is not there: deleted, or never made. */
const goneBy = (method: string, request: Uint8Array, answer: Uint8Array): readonly string[] => {
  switch (method) {
    case methods.deleteLoadBalancer.name: {
      const { context, service } = methods.deleteLoadBalancer.requestType.decode(request);
      const { done } = methods.deleteLoadBalancer.responseType.decode(answer);
      return done && service !== undefined ? [balancerKey(context, service.uid)] : [];
    }
    case methods.batchDeleteRoutes.name:
      return routesWhere(request, answer, methods.batchDeleteRoutes, "route");
    case batchEnsureRoutes.name:
      return routesWhere(request, answer, batchEnsureRoutes, "error");
    default:
      return [];
  }
};

const routesWhere = (
  request: Uint8Array,
  answer: Uint8Array,
  { requestType, responseType }: typeof batchEnsureRoutes | typeof methods.batchDeleteRoutes,
  outcome: "route" | "error",
): readonly string[] => {
  const { context, routes } = requestType.decode(request);
  const { results } = responseType.decode(answer);
  return routes
    .filter((_route, index) => results[index]?.outcome?.$case === outcome)
    .map((route) => routeKey(context, route));
};

/** Refusals that leave the cloud as it was. */
const refusals: ReadonlySet<string> = new Set([
  "INVALID_ARGUMENT",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "FAILED_PRECONDITION",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
]);

/** What may be in the cloud at this moment, up to the vendor's limit. */
export class Present {
  readonly #limit: number;
  readonly #keys = new Set<string>();

  constructor(limit: number = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
  }

  get count(): number {
    return this.#keys.size;
  }

  /** Before a call that makes these; answers which of them are new. Throws a CheckSkipped where they would be too many. */
  making(keys: readonly string[]): readonly string[] {
    const fresh = [...new Set(keys)].filter((key) => !this.#keys.has(key));
    const wanted = this.#keys.size + fresh.length;
    if (fresh.length > 0 && wanted > this.#limit)
      throw new CheckSkipped(
        `needs ${wanted} resources in the cloud at once, and limits.maxResources is ${this.#limit}`,
        "limit",
      );
    for (const key of fresh) this.#keys.add(key);
    return fresh;
  }

  /** The call was refused: what it would have made is not there. */
  refused(fresh: readonly string[], code: number): void {
    if (refusals.has(codeName(code))) this.gone(fresh);
  }

  gone(keys: readonly string[]): void {
    for (const key of keys) this.#keys.delete(key);
  }
}
