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
import { canonicalCidr, type Cidr, parseCidr } from "../../util/cidr.ts";
import { InstanceMap } from "../../util/values/provider-id.ts";
import type { Clock } from "../../util/clock.ts";
import { messageOf } from "../../util/errors.ts";
import { iso } from "../../util/text.ts";

export interface OrphansDependencies {
  readonly nodes: Informer<Node>;
  readonly services: Informer<Service>;
  readonly providers: () => readonly Provider[];
  readonly routeManagement: (provider: string) => RouteRules["management"];
  readonly clusterCidrs: () => readonly Cidr[];
  readonly clock: Clock;
}

/** Lists are paged and wait for the call budget. */
const TIMEOUT_MS = 90_000;

interface Answer {
  readonly orphans: readonly Orphan[];
  readonly unknown: OrphanReport["unreachableProviders"];
}

/** Finds cloud resources of this cluster without an owner. Requests the lists each time, at low priority. */
export class Orphans {
  readonly #deps: OrphansDependencies;
  /** Shared by concurrent requests, because lists cost calls. */
  #inProgress: Promise<OrphanReport> | undefined;

  constructor(dependencies: OrphansDependencies) {
    this.#deps = dependencies;
  }

  find(): Promise<OrphanReport> {
    this.#inProgress ??= this.#find().finally(() => {
      this.#inProgress = undefined;
    });
    return this.#inProgress;
  }

  async #find(): Promise<OrphanReport> {
    const { providers, nodes, services, clock } = this.#deps;
    const time = iso(clock.nowMs());
    const all = providers();
    const isSynced = nodes.hasSynced() && services.hasSynced();
    const answers = isSynced
      ? await Promise.all(all.map((provider) => this.#of(provider)))
      : all.map((provider) => unknown(provider, "the caches of this replica are not synced yet"));
    const orphans = distinct(
      answers.flatMap((answer) => answer.orphans),
      scopesOf(all),
    );
    return { time, orphans, unreachableProviders: answers.flatMap((answer) => answer.unknown) };
  }

  async #of(provider: Provider): Promise<Answer> {
    const { info, unavailable } = provider;
    if (info === undefined) return unknown(provider, unavailable?.message ?? "it has not responded yet");
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
    if (loadBalancers.list === undefined) return unknown(provider, "it does not support listing load balancers");
    const { items, complete, unreachable } = await provider.client.listLoadBalancers({ signal, priority: "low" });
    const missing = complete ? NOTHING : unknown(provider, incomplete("load balancers", unreachable));
    return { orphans: orphanedLoadBalancers(provider.name, items, this.#owners(info)), unknown: missing.unknown };
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
    return { orphans: orphanedRoutes(provider.name, routes, this.#owners(info), rules), unknown: missing.unknown };
  }

  /** Read after the lists, so that owners created in the meantime count. */
  #owners({ providerIdPrefixes: prefixes }: Answered["info"]): Owners {
    const { nodes, services } = this.#deps;
    const all = [...services.lister.list()];
    const uids = new Set(all.map(({ metadata }) => metadata.uid));
    const keys = new Set(all.map((service) => keyOf(service)));
    const instances = new InstanceMap<true>();
    const podCidrs = new Set<string>();
    for (const { spec } of nodes.lister.list()) {
      instances.add(spec.providerID, true);
      for (const cidr of spec.podCIDRs) podCidrs.add(cidr);
    }
    return {
      hasService: (uid) => uids.has(uid),
      hasServiceNamed: (key) => keys.has(key),
      hasNode: (name) => nodes.lister.get(name) !== undefined,
      hasInstance: (providerId) => instances.has(providerId, prefixes),
      hasPodCidr: (cidr) => podCidrs.has(canonicalCidr(cidr)),
    };
  }
}

const NOTHING: Answer = { orphans: [], unknown: [] };

function unknown({ name }: Provider, message: string): Answer {
  return { orphans: [], unknown: [{ provider: name, message }] };
}

function incomplete(kind: string, unreachable: readonly string[]): string {
  const where = unreachable.length === 0 ? "" : `; unreachable: ${unreachable.join(", ")}`;
  return `its list of ${kind} is not complete${where}`;
}

/** Two sidecars of one cloud list the same resources. */
function distinct(orphans: readonly Orphan[], scopeOf: (provider: string) => string): readonly Orphan[] {
  const known = new Set<string>();
  return orphans.filter(({ provider, kind, id }) => {
    const name = JSON.stringify([scopeOf(provider), kind, id]);
    if (known.has(name)) return false;
    known.add(name);
    return true;
  });
}

function scopesOf(providers: readonly Provider[]): (provider: string) => string {
  const scopes = new Map(
    providers.map(({ name, info }) => [name, JSON.stringify([info?.name ?? name, info?.scopeId])]),
  );
  return (provider) => scopes.get(provider) ?? provider;
}

/** Owners in the cluster. */
export interface Owners {
  hasService(uid: string): boolean;
  /** With any UID. */
  hasServiceNamed(key: string): boolean;
  hasNode(name: string): boolean;
  hasInstance(providerId: string): boolean;
  hasPodCidr(cidr: string): boolean;
}

/** Load balancers without a Service. */
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
  if (phase === "deleting") return "It is being deleted in the cloud.";
  const recreated = owners.hasServiceNamed(key) ? "; a new Service with the same name exists" : "";
  return `No Service has UID ${uid}${recreated}. The controller does not delete it: delete it in the cloud if it is not needed.`;
}

export interface RouteRules {
  /** Mode of node-route-controller for the provider; `off`: it does not run. */
  readonly management: Mode | "off";
  /** The list is complete; otherwise no route is deleted. */
  readonly complete: boolean;
  /** Inside --cluster-cidr. */
  readonly isDeletable: (route: Route) => boolean;
}

/** Routes without a Node. */
export function orphanedRoutes(
  provider: string,
  all: readonly Route[],
  owners: Pick<Owners, "hasNode" | "hasInstance" | "hasPodCidr">,
  rules: RouteRules,
): readonly Orphan[] {
  return all
    .filter(
      ({ targetNodeName, targetProviderId, destinationCidr }) =>
        !owners.hasNode(targetNodeName) && !owners.hasInstance(targetProviderId) && !owners.hasPodCidr(destinationCidr),
    )
    .map((route) => ({
      provider,
      kind: "route",
      id: route.id === "" ? route.destinationCidr : route.id,
      owner: route.targetNodeName === "" ? "" : `node/${route.targetNodeName}`,
      message: `Its destination is ${route.destinationCidr} of a deleted Node. ${routeAction(route, rules)}`,
    }));
}

function routeAction(route: Route, { management, complete, isDeletable }: RouteRules): string {
  if (management === "off") return "It is not deleted, because node-route-controller does not run.";
  if (!isDeletable(route)) return "It is not deleted, because it is not inside --cluster-cidr.";
  if (management === "observe") return "It is not deleted, because node-route-controller is in observe mode (--mode).";
  return complete
    ? "node-route-controller deletes it at its next pass."
    : "It is not deleted until the provider's list is complete.";
}
