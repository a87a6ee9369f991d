import {
  inHalves,
  ProviderError,
  type Route,
  type RouteBatchResult,
  type RouteChangeContext,
  type RouteDeleteResult,
  type RouteHandlers,
  type RouteListContext,
  type DesiredRoute,
} from "@cloudwire/provider-sdk";
import { canonicalAddress, parseCidr, PodCidrs } from "@cloudwire/provider-sdk/addresses";
import { isStatus } from "../cloud/errors.ts";
import { isKnown, type Server } from "../instances/server.ts";
import type { ServerReader } from "../instances/server-reader.ts";
import { formatId, parseId } from "../instances/provider-id.ts";
import { addressesOf, type InstanceView } from "../instances/to-instance.ts";
import { type ExtraRoute, isSameRange, planRoute, routeId, type RouteStep } from "./plan.ts";
import type { Router } from "./router.ts";

export interface RouteSettings {
  readonly routerId: string;
  readonly podCidrs: readonly string[];
  /** Routes that the router takes, Neutron's max_routes. */
  readonly quota: number;
}

type RouteWrite = Extract<RouteStep, { readonly kind: "write" }>;

type Refusals = ReadonlyMap<RouteStep, ProviderError>;

type View = Pick<InstanceView, "internalNetworks" | "publicNetworks"> & { readonly region: string };

/** Maximum age of a read of all servers for looking up the owner of an address. */
const serversAgeMs = 5_000;

export function routeHandlers(
  router: Router,
  servers: ServerReader,
  view: View,
  settings: RouteSettings,
): RouteHandlers {
  const routes = new Routes(router, servers, view, settings);
  return {
    features: { blackhole: true, validateOnly: true, ipFamilies: new PodCidrs(settings.podCidrs).families },
    list: (context) => routes.list(context),
    ensureMany: async (wanted, context) => routes.ensure(wanted, context),
    deleteMany: async (wanted, context) => routes.delete(wanted, context),
  };
}

/** Routes of one router. They have no tags: within the pod CIDRs they belong to the cluster in the router's tag. */
class Routes {
  readonly #router: Router;
  readonly #servers: ServerReader;
  readonly #view: View;
  readonly #podCidrs: PodCidrs;
  readonly #quota: number;

  constructor(router: Router, servers: ServerReader, view: View, { podCidrs, quota }: RouteSettings) {
    this.#router = router;
    this.#servers = servers;
    this.#view = view;
    this.#podCidrs = new PodCidrs(podCidrs);
    this.#quota = quota;
  }

  async *list(context: RouteListContext): AsyncGenerator<Route> {
    const { routes, owner } = await this.#read(context);
    if (owner !== context.cluster.id) return;
    const own = routes.filter(({ destination }) => this.#podCidrs.has(destination));
    const { servers } = own.length === 0 ? { servers: [] } : await this.#servers.walk(serversAgeMs, context);
    const serverIds = new Map(
      servers.flatMap((server) =>
        this.#addresses(server).map((address) => [canonicalAddress(address), server.id] as const),
      ),
    );
    for (const route of own) yield toRoute(route, serverIds.get(canonicalAddress(route.nexthop)));
  }

  async ensure(wanted: readonly DesiredRoute[], context: RouteChangeContext): Promise<readonly RouteBatchResult[]> {
    const { routes, owner } = await this.#read(context);
    if (owner !== undefined && owner !== context.cluster.id)
      return wanted.map((each) => this.#inTheWay(each, routes, owner));
    const ids = wanted.map(({ targetId }) => this.#serverIdOf(targetId));
    const { servers } = await this.#servers.byIds(
      ids.flatMap((id) => id ?? []),
      context,
    );
    const byId = new Map(servers.map((server) => [server.id, server]));
    const steps = wanted.map((each, index) => {
      const server = byId.get(ids[index] ?? "");
      return planRoute(each, server && this.#nexthop(server, each.destinationCidr), routes, this.#podCidrs);
    });
    const writes = steps.filter((step) => step.kind === "write");
    let refused: Refusals = new Map();
    if (writes.length > 0 && !this.#plans(steps, context)) {
      if (owner === undefined) await this.#router.claim(context.cluster, context);
      refused = await this.#write(writes, context);
    }
    return steps.map((step, index) => {
      if (step.kind === "refuse") return step.problem;
      return refused.get(step) ?? toRoute(step.route, ids[index]);
    });
  }

  /** Answers the routes that the router refused. */
  async #write(writes: readonly RouteWrite[], context: RouteChangeContext): Promise<Refusals> {
    const refused = new Map<RouteStep, ProviderError>();
    // First the new way: traffic always has one.
    await inHalves(
      writes,
      (batch) =>
        this.#router.add(
          batch.map(({ route }) => route),
          context,
        ),
      (error) => isStatus(error, 400),
      (step, error) => error instanceof ProviderError && refused.set(step, error),
    );
    const removed = writes.flatMap((step) => (refused.has(step) ? [] : step.removed));
    if (removed.length > 0) await this.#router.remove(removed, context);
    for (const [step, { reason }] of refused) {
      if (step.kind !== "write" || step.removed.length === 0 || reason !== "QUOTA_EXCEEDED") continue;
      if (await this.#replace(step, context)) refused.delete(step);
    }
    return refused;
  }

  /** Without room for two routes to one range: the old one goes first, and comes back if the new one is refused. */
  async #replace({ route, removed }: RouteWrite, context: RouteChangeContext): Promise<boolean> {
    await this.#router.remove(removed, context);
    try {
      await this.#router.add([route], context);
      return true;
    } catch (error) {
      await this.#router.add(removed, context);
      if (isStatus(error, 400)) return false;
      throw error;
    }
  }

  async delete(wanted: readonly DesiredRoute[], context: RouteChangeContext): Promise<readonly RouteDeleteResult[]> {
    const { routes, owner } = await this.#read(context);
    const isOwn = owner === context.cluster.id;
    const named = wanted.map(({ destinationCidr, id }) =>
      routes.filter(
        (route) => isSameRange(route.destination, destinationCidr) && (id === undefined || id === routeId(route)),
      ),
    );
    const gone = isOwn ? named.flat().filter(({ destination }) => this.#podCidrs.has(destination)) : [];
    for (const route of context.validateOnly ? gone : []) {
      context.addPlannedChange({ action: "delete", resourceType: "route", resourceId: routeId(route) });
    }
    if (gone.length > 0 && !context.validateOnly) {
      await this.#router.remove(gone, context);
      const left = routes.filter((route) => this.#podCidrs.has(route.destination) && !gone.includes(route));
      if (left.length === 0) await this.#router.release(context.cluster, context);
    }
    return named.map((found) => (found.every((route) => gone.includes(route)) ? undefined : this.#notOurs(owner)));
  }

  /** True: only planned. */
  #plans(steps: readonly RouteStep[], context: RouteChangeContext): boolean {
    if (!context.validateOnly) return false;
    for (const step of steps) {
      if (step.kind !== "write") continue;
      const action = step.removed.length === 0 ? "create" : "replace";
      context.addPlannedChange({ action, resourceType: "route", resourceId: routeId(step.route) });
    }
    return true;
  }

  async #read(context: RouteListContext | RouteChangeContext) {
    const read = await this.#router.read(context);
    context.reportQuota({ limit: this.#quota, used: read.routes.length });
    return read;
  }

  #serverIdOf(targetId: string | undefined): string | undefined {
    const parsed = targetId === undefined ? undefined : parseId(targetId, this.#view.region);
    return parsed?.kind === "server" ? parsed.serverId : undefined;
  }

  #nexthop(server: Server, cidr: string): string | undefined {
    const isSix = parseCidr(cidr)?.family === 6;
    return this.#addresses(server).find((address) => address.includes(":") === isSix);
  }

  #addresses(server: Server): readonly string[] {
    if (!isKnown(server)) return [];
    const all = addressesOf(server, { ...this.#view, ipFamilies: ["IPv4", "IPv6"] });
    return all.flatMap(({ type, address }) => (type === "InternalIP" ? [address] : []));
  }

  /** Of a router that has another cluster's routes to pod CIDRs. */
  #inTheWay({ destinationCidr: cidr }: DesiredRoute, routes: readonly ExtraRoute[], owner: string): ProviderError {
    const theirs = routes.find(({ destination }) => isSameRange(destination, cidr));
    if (theirs === undefined) return this.#notOurs(owner);
    const message = `router ${this.#router.id} has a route to ${cidr} by ${theirs.nexthop} that is cluster ${owner}'s`;
    return new ProviderError("CIDR_CONFLICT", message, { metadata: { cidr, owner_cluster_id: owner } });
  }

  #notOurs(owner: string | undefined): ProviderError {
    const whose = owner === undefined ? "not owned by a cluster: a user created them" : `cluster ${owner}'s`;
    const message = `the routes to pod CIDRs of router ${this.#router.id} are ${whose}`;
    const metadata = { owner_cluster_id: owner ?? "", id: this.#router.id };
    return new ProviderError("OWNED_BY_ANOTHER_CLUSTER", message, { metadata });
  }
}

function toRoute(route: ExtraRoute, serverId: string | undefined): Route {
  return {
    id: routeId(route),
    destinationCidr: route.destination,
    ...(serverId === undefined ? {} : { targetId: formatId(serverId, undefined) }),
    blackhole: serverId === undefined,
  };
}
