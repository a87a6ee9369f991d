import type { Orphan, OrphansPage } from "@cloudwire/operator-api";
import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import { isDeletable } from "../../controllers/route/plan.ts";
import { orphanedLoadBalancers, orphanedRoutes, type Owners, type RouteRules } from "./judge-orphans.ts";
import type { Informer } from "../../kube/cache/informer-interface.ts";
import type { Answered, Provider } from "../../provider/model/provider.ts";
import type { Route } from "../../provider/model/route.ts";
import { type Cidr, parseCidr } from "../../util/cidr.ts";
import type { Clock } from "../../util/clock.ts";
import { messageOf } from "../../util/errors.ts";
import { iso } from "../../util/iso-time.ts";

export interface OrphansDependencies {
  readonly nodes: Informer<Node>;
  readonly services: Informer<Service>;
  readonly providers: () => readonly Provider[];
  /** What node-route-controller does about routes of the provider, here or where it leads. */
  readonly routeManagement: (provider: string) => RouteRules["management"];
  readonly clusterCidrs: () => readonly Cidr[];
  readonly clock: Clock;
}

/** Lists are paged and wait for the budget of calls. */
const TIMEOUT_MS = 90_000;

interface Answer {
  readonly orphans: readonly Orphan[];
  readonly unknown: OrphansPage["unknown"];
}

/** What providers list with this cluster's stamp and nobody in the cluster owns. Asks them each time, at low priority. */
export class Orphans {
  readonly #deps: OrphansDependencies;
  /** Who asks while others wait gets the same answer: lists cost calls. */
  #underWay: Promise<OrphansPage> | undefined;

  constructor(dependencies: OrphansDependencies) {
    this.#deps = dependencies;
  }

  find(): Promise<OrphansPage> {
    this.#underWay ??= this.#find().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async #find(): Promise<OrphansPage> {
    const { providers, nodes, services, clock } = this.#deps;
    const at = iso(clock.nowMs());
    const all = providers();
    const isRead = nodes.hasSynced() && services.hasSynced();
    const answers = isRead
      ? await Promise.all(all.map((provider) => this.#of(provider)))
      : all.map((provider) => unknown(provider, "this replica has not read the cluster yet"));
    const orphans = distinct(
      answers.flatMap((answer) => answer.orphans),
      placesOf(all),
    );
    return { at, orphans, unknown: answers.flatMap((answer) => answer.unknown) };
  }

  async #of(provider: Provider): Promise<Answer> {
    const { info, unavailable } = provider;
    if (info === undefined) return unknown(provider, unavailable?.message ?? "it has not answered yet");
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const parts = await Promise.all([
      this.#loadBalancers({ provider, info }, signal).catch((error: unknown) => unknown(provider, messageOf(error))),
      this.#routes({ provider, info }, signal).catch((error: unknown) => unknown(provider, messageOf(error))),
    ]);
    return { orphans: parts.flatMap(({ orphans }) => orphans), unknown: parts.flatMap((part) => part.unknown) };
  }

  async #loadBalancers({ provider, info }: Answered, signal: AbortSignal): Promise<Answer> {
    const { loadBalancers } = info.capabilities;
    if (loadBalancers === undefined) return NOTHING;
    if (loadBalancers.list === undefined) return unknown(provider, "it offers no list of load balancers");
    const { items, complete, unreachable } = await provider.client.listLoadBalancers({ signal, priority: "low" });
    const missing = complete ? NOTHING : unknown(provider, incomplete("load balancers", unreachable));
    return { orphans: orphanedLoadBalancers(provider.name, items, this.#owners()), unknown: missing.unknown };
  }

  async #routes({ provider, info }: Answered, signal: AbortSignal): Promise<Answer> {
    if (info.capabilities.routes === undefined) return NOTHING;
    const { routes, complete } = await provider.client.listRoutes({ signal, priority: "low" });
    const missing = complete ? NOTHING : unknown(provider, incomplete("routes", []));
    const clusterCidrs = this.#deps.clusterCidrs();
    const rules = {
      management: this.#deps.routeManagement(provider.name),
      complete,
      isDeletable: (route: Route): boolean => {
        const cidr = parseCidr(route.destinationCidr);
        return cidr !== undefined && isDeletable({ route, cidr, nodeName: "", madeFor: "" }, { clusterCidrs });
      },
    };
    return { orphans: orphanedRoutes(provider.name, routes, this.#owners(), rules), unknown: missing.unknown };
  }

  /** As the cluster is once the lists are there: what was made meanwhile owns what it made. */
  #owners(): Owners {
    const { nodes, services } = this.#deps;
    const all = [...services.lister.list()];
    const uids = new Set(all.map(({ metadata }) => metadata.uid));
    const keys = new Set(all.map((service) => keyOf(service)));
    const machines = new Set([...nodes.lister.list()].map(({ spec }) => spec.providerID));
    return {
      hasService: (uid) => uids.has(uid),
      hasServiceNamed: (key) => keys.has(key),
      hasNode: (name) => nodes.lister.get(name) !== undefined,
      hasMachine: (providerId) => providerId !== "" && machines.has(providerId),
    };
  }
}

const NOTHING: Answer = { orphans: [], unknown: [] };

function unknown({ name }: Provider, message: string): Answer {
  return { orphans: [], unknown: [{ provider: name, message }] };
}

function incomplete(what: string, unreachable: readonly string[]): string {
  const where = unreachable.length === 0 ? "" : `; not reached: ${unreachable.join(", ")}`;
  return `its list of ${what} is not complete${where}`;
}

/** Two sidecars of one cloud see the same things: they are told once. */
function distinct(orphans: readonly Orphan[], placeOf: (provider: string) => string): readonly Orphan[] {
  const known = new Set<string>();
  return orphans.filter(({ provider, kind, id }) => {
    const name = JSON.stringify([placeOf(provider), kind, id]);
    if (known.has(name)) return false;
    known.add(name);
    return true;
  });
}

function placesOf(providers: readonly Provider[]): (provider: string) => string {
  const places = new Map(
    providers.map(({ name, info }) => [name, JSON.stringify([info?.name ?? name, info?.scopeId])]),
  );
  return (provider) => places.get(provider) ?? provider;
}
