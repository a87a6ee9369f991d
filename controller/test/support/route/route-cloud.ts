import { contractError, type ProviderError } from "../../../src/provider/model/errors.ts";
import type { Operation } from "../../../src/provider/model/load-balancer.ts";
import type { Provider } from "../../../src/provider/model/provider.ts";
import type { ProviderInfo, RouteCapabilities } from "../../../src/provider/model/info.ts";
import type { Route, RouteList, RouteOutcome, RouteQuota } from "../../../src/provider/model/route.ts";
import { idleProvider, info } from "../provider/provider-builders.ts";

export function routeCapabilities(parts: Partial<RouteCapabilities> = {}): RouteCapabilities {
  return {
    maxBatchSize: 200,
    maxPageSize: 1000,
    blackhole: true,
    targetAddresses: false,
    validateOnly: false,
    ipFamilies: ["IPv4", "IPv6"],
    ...parts,
  };
}

/** Handshake of a provider of routes. */
export function routesInfo(parts: Partial<RouteCapabilities> = {}): ProviderInfo {
  return info({ capabilities: { routes: routeCapabilities(parts) } });
}

const OPERATION: Operation = {
  id: "op",
  stage: "",
  progressPercent: undefined,
  pollAfterMs: 3000,
  message: "",
};

type Call = "list" | "ensure" | "delete";

/** A route table in memory behind a provider's client: one route a range, replaced when it is this cluster's. */
export class RouteCloud {
  readonly routes = new Map<string, Route>();
  /** Ranges that other people have routed. */
  readonly foreign = new Set<string>();
  /** Each call with the ranges it was about. */
  readonly calls: string[] = [];
  limit = 1000;
  complete = true;
  /** undefined: the call, or this item of it, goes through. */
  fail: (call: Call, cidr: string) => ProviderError | undefined = () => undefined;
  /** So many times each new route is still being worked on when asked for. */
  pendingTimes = 0;
  readonly #asked = new Map<string, number>();
  /** How the list writes a route. */
  listedAs: (route: Route) => Route = (route) => route;
  /** Awaited before a call touches anything. */
  beforeCall: (call: Call) => Promise<void> = () => Promise.resolve();
  #ids = 0;

  /** A provider of this cloud that is ready; its handshake may be replaced. */
  provider(name = "acme", declared: ProviderInfo | undefined = routesInfo()): Provider {
    const idle = idleProvider(name, declared);
    return {
      ...idle,
      client: {
        ...idle.client,
        listRoutes: () => this.#list(),
        ensureRoutes: async (routes) => {
          const outcomes = await this.#each("ensure", routes, (route) => this.#ensure(route));
          return { outcomes, quota: this.quota, plannedChanges: [] };
        },
        deleteRoutes: async (routes) => {
          const outcomes = await this.#each("delete", routes, (route) => this.#delete(route));
          return { outcomes, quota: this.quota, plannedChanges: [] };
        },
      },
    };
  }

  get quota(): RouteQuota {
    return { limit: this.limit, used: this.routes.size + this.foreign.size };
  }

  get changes(): readonly string[] {
    return this.calls.filter((call) => !call.startsWith("list"));
  }

  /** Puts a route there as if made before. */
  seed(destinationCidr: string, targetProviderId: string, parts: Partial<Route> = {}): Route {
    const route: Route = {
      id: `rt-${++this.#ids}`,
      nameHint: "",
      targetProviderId,
      targetNodeName: targetProviderId.replace(/^.*\//, ""),
      destinationCidr,
      targetAddresses: [],
      blackhole: false,
      ...parts,
    };
    this.routes.set(destinationCidr, route);
    return route;
  }

  /** Range and target of each route, sorted. */
  get table(): readonly string[] {
    return [...this.routes.values()]
      .map(({ destinationCidr, targetProviderId, blackhole }) =>
        [destinationCidr, targetProviderId, ...(blackhole ? ["blackhole"] : [])].join(" "),
      )
      .toSorted();
  }

  async #list(): Promise<RouteList> {
    this.calls.push("list");
    const routes = [...this.routes.values()].map((route) => this.listedAs(route));
    const { complete } = this;
    await this.beforeCall("list");
    const error = this.fail("list", "");
    if (error !== undefined) throw error;
    return { routes, complete, quota: this.quota };
  }

  async #each(
    call: Call,
    routes: readonly Route[],
    change: (route: Route) => RouteOutcome,
  ): Promise<readonly RouteOutcome[]> {
    this.calls.push(`${call} ${routes.map(({ destinationCidr }) => destinationCidr).join(" ")}`);
    await this.beforeCall(call);
    return routes.map((route) => {
      const error = this.fail(call, route.destinationCidr);
      return error === undefined ? change(route) : { kind: "failed", error };
    });
  }

  #ensure(desired: Route): RouteOutcome {
    const { destinationCidr, targetProviderId } = desired;
    if (this.foreign.has(destinationCidr)) {
      return {
        kind: "failed",
        error: contractError("CIDR_CONFLICT", `${destinationCidr} is routed by another cluster`),
      };
    }
    const present = this.routes.get(destinationCidr);
    if (present === undefined && this.quota.used >= this.limit) {
      return { kind: "failed", error: contractError("QUOTA_EXCEEDED", "the route table is full") };
    }
    if (present?.targetProviderId === targetProviderId && !present.blackhole) return { kind: "done", route: present };
    const asked = this.#asked.get(destinationCidr) ?? 0;
    this.#asked.set(destinationCidr, asked + 1);
    if (asked < this.pendingTimes) return { kind: "pending", operation: OPERATION };
    const { id: _, ...rest } = desired;
    return { kind: "done", route: this.seed(destinationCidr, targetProviderId, rest) };
  }

  #delete(route: Route): RouteOutcome {
    if (this.routes.get(route.destinationCidr)?.id === route.id) this.routes.delete(route.destinationCidr);
    return { kind: "done", route };
  }
}
