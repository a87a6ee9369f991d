import type { Orphan, OrphanReport } from "@cloudwire/operator-api";
import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import { isDeletable } from "../../controllers/route/plan.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import type { Mode } from "../../observe/mode.ts";
import type { LoadBalancer } from "../../provider/model/load-balancer.ts";
import type { Answered, Provider } from "../../provider/model/provider.ts";
import type { Route } from "../../provider/model/route.ts";
import { type Cidr, parseCidr } from "../../util/cidr.ts";
import type { Clock } from "../../util/clock.ts";
import { messageOf } from "../../util/errors.ts";
import { iso } from "../../util/text.ts";

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
  readonly unknown: OrphanReport["unreachableProviders"];
}

/** What providers list with this cluster's stamp and nobody in the cluster owns. Asks them each time, at low priority. */
export class Orphans {
  readonly #deps: OrphansDependencies;
  /** Who asks while others wait gets the same answer: lists cost calls. */
  #underWay: Promise<OrphanReport> | undefined;

  constructor(dependencies: OrphansDependencies) {
    this.#deps = dependencies;
  }

  find(): Promise<OrphanReport> {
    this.#underWay ??= this.#find().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async #find(): Promise<OrphanReport> {
    const { providers, nodes, services, clock } = this.#deps;
    const time = iso(clock.nowMs());
    const all = providers();
    const isRead = nodes.hasSynced() && services.hasSynced();
    const answers = isRead
      ? await Promise.all(all.map((provider) => this.#of(provider)))
      : all.map((provider) => unknown(provider, "this replica has not read the cluster yet"));
    const orphans = distinct(
      answers.flatMap((answer) => answer.orphans),
      placesOf(all),
    );
    return { time, orphans, unreachableProviders: answers.flatMap((answer) => answer.unknown) };
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

/** What there is in the cluster that something at a cloud may belong to. */
export interface Owners {
  hasService(uid: string): boolean;
  /** There is a Service of that name, whatever its UID. */
  hasServiceNamed(key: string): boolean;
  hasNode(name: string): boolean;
  hasMachine(providerId: string): boolean;
}

/** Load balancers with this cluster's stamp whose Service is no more. Needs a provider's list and the Services by UID. */
export function orphanedLoadBalancers(
  provider: string,
  all: readonly LoadBalancer[],
  owners: Pick<Owners, "hasService" | "hasServiceNamed">,
): readonly Orphan[] {
  return all
    .filter(({ service }) => !owners.hasService(service.uid))
    .map(({ id, service, phase }) => {
      const key = `${service.namespace}/${service.name}`;
      return {
        provider,
        kind: "loadBalancer",
        id,
        owner: `service/${key}`,
        message: loadBalancerMessage(key, service.uid, phase, owners),
      };
    });
}

function loadBalancerMessage(
  key: string,
  uid: string,
  phase: LoadBalancer["phase"],
  owners: Pick<Owners, "hasServiceNamed">,
): string {
  if (phase === "deleting") return "It is being taken down at the cloud.";
  const anew = owners.hasServiceNamed(key) ? "; the one of that name was made anew and is another one" : "";
  return `No Service has UID ${uid}${anew}. It is left alone: delete it at the cloud if nobody needs it.`;
}

export interface RouteRules {
  /** What node-route-controller does about routes of the provider, here or where it leads; `off`: it does not run. */
  readonly management: Mode | "off";
  /** The list is: without all of it none is removed. */
  readonly complete: boolean;
  /** It lies wholly inside --cluster-cidr. */
  readonly isDeletable: (route: Route) => boolean;
}

/** Routes of this cluster that lead to no Node. Needs a provider's list, the Nodes by name and by machine. */
export function orphanedRoutes(
  provider: string,
  all: readonly Route[],
  owners: Pick<Owners, "hasNode" | "hasMachine">,
  rules: RouteRules,
): readonly Orphan[] {
  return all
    .filter(
      ({ targetNodeName, targetProviderId }) => !owners.hasNode(targetNodeName) && !owners.hasMachine(targetProviderId),
    )
    .map((route) => ({
      provider,
      kind: "route",
      id: route.id === "" ? route.destinationCidr : route.id,
      owner: route.targetNodeName === "" ? "" : `node/${route.targetNodeName}`,
      message: `It leads to ${route.destinationCidr} of a Node that is no more. ${routeFate(route, rules)}`,
    }));
}

function routeFate(route: Route, { management, complete, isDeletable }: RouteRules): string {
  if (management === "off") return "It is left alone, for node-route-controller does not run here.";
  if (!isDeletable(route)) return "It is left alone, for it does not lie inside --cluster-cidr.";
  if (management === "observe") return "It is left alone, for node-route-controller only observes here (--mode).";
  return complete
    ? "node-route-controller removes it at its next pass."
    : "It is left alone until the provider's list is complete.";
}
