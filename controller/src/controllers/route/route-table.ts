import type { ProviderInfo, RouteCapabilities } from "../../provider/model/info.ts";
import type { Provider, ProviderSet } from "../../provider/model/provider.ts";
import type { Route } from "../../provider/model/route.ts";
import type { Cidr } from "../../util/cidr.ts";
import { isSameInstance } from "../../util/values/provider-id.ts";

export interface KnownRoute {
  readonly route: Route;
  readonly cidr: Cidr;
  /** From the route's ownership tag or its target; "" if neither identifies a Node. */
  readonly nodeName: string;
  /** Provider ID of the Node in the request; "" when it was only listed. */
  readonly madeFor: string;
}

/** The ID, or the CIDR if a provider has no IDs. */
export function routeKey({ route, cidr }: Pick<KnownRoute, "route" | "cidr">): string {
  return route.id === "" ? cidr.text : route.id;
}

export interface LoadedList {
  readonly routes: readonly KnownRoute[];
  /** False: missing routes may exist. */
  readonly complete: boolean;
  /** {@link RouteTable.mark} before the list was requested. */
  readonly mark: number;
  readonly readAtMs: number;
}

interface Entry {
  readonly known: KnownRoute;
  /** Number of our change that added it; 0: it was listed. */
  readonly changedAt: number;
}

/** The routes of one provider: the last list and our changes since. Changes during a list take precedence over it. */
export class RouteTable {
  #entries = new Map<string, Entry>();
  #byCidr = new Map<string, Set<string>>();
  #byNode = new Map<string, Set<string>>();
  readonly #removedAt = new Map<string, number>();
  #changes = 0;
  #readAtMs: number | undefined;
  #complete = false;

  /** Monotonic time of the last list; undefined: never listed. */
  get readAtMs(): number | undefined {
    return this.#readAtMs;
  }

  get complete(): boolean {
    return this.#complete;
  }

  all(): readonly KnownRoute[] {
    return [...this.#entries.values()].map(({ known }) => known);
  }

  to(cidr: Cidr): readonly KnownRoute[] {
    return this.#look(this.#byCidr.get(cidr.text));
  }

  ofNode(name: string): readonly KnownRoute[] {
    return this.#look(this.#byNode.get(name));
  }

  holds(known: KnownRoute): boolean {
    const entry = this.#entries.get(routeKey(known));
    return entry !== undefined && hasSameTarget(entry.known, known);
  }

  mark(): number {
    return this.#changes;
  }

  load({ routes, complete, mark, readAtMs }: LoadedList): void {
    const before = this.#entries;
    const created = new Map(
      [...before.values()].flatMap((entry) => (entry.changedAt > 0 ? [[entry.known.cidr.text, entry]] : [])),
    );
    this.#entries = new Map();
    this.#byCidr = new Map();
    this.#byNode = new Map();
    for (const [key, entry] of before) {
      if (!complete || entry.changedAt > mark) this.#set(key, entry);
    }
    for (const known of routes) {
      const key = routeKey(known);
      const own = before.get(key);
      if ((this.#removedAt.get(key) ?? 0) > mark || (own?.changedAt ?? 0) > mark) continue;
      this.#set(key, { known: withOrigin(known, own ?? created.get(known.cidr.text)), changedAt: 0 });
    }
    for (const [key, removedAt] of this.#removedAt) {
      if (removedAt <= mark) this.#removedAt.delete(key);
    }
    this.#complete = complete;
    this.#readAtMs = readAtMs;
  }

  /** The provider has created it, so that it is the only route to its CIDR. */
  put(known: KnownRoute): void {
    for (const replaced of this.to(known.cidr)) this.remove(replaced);
    const key = routeKey(known);
    this.#removedAt.delete(key);
    this.#set(key, { known, changedAt: ++this.#changes });
  }

  remove(known: KnownRoute): void {
    const key = routeKey(known);
    this.#removedAt.set(key, ++this.#changes);
    this.#drop(key);
  }

  #set(key: string, entry: Entry): void {
    this.#drop(key);
    this.#entries.set(key, entry);
    addTo(this.#byCidr, entry.known.cidr.text, key);
    addTo(this.#byNode, entry.known.nodeName, key);
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    removeFrom(this.#byCidr, entry.known.cidr.text, key);
    removeFrom(this.#byNode, entry.known.nodeName, key);
  }

  #look(keys: ReadonlySet<string> = new Set()): readonly KnownRoute[] {
    return [...keys].flatMap((key) => this.#entries.get(key)?.known ?? []);
  }
}

/**
 * A provider may write an instance ID differently from the Node, so that the requested ID and the Node are kept across lists. The first
 * list after a creation shows how the provider writes the ID; a target that is another Node's is another client's change.
 */
function withOrigin(listed: KnownRoute, before: Entry | undefined): KnownRoute {
  if (before === undefined || before.known.madeFor === "") return listed;
  const { madeFor, nodeName } = before.known;
  const isNewName = listed.nodeName === "" || listed.nodeName === nodeName;
  const isOurs = hasSameTarget(before.known, listed) || (before.changedAt > 0 && isNewName);
  if (!isOurs || listed.route.targetProviderId === "") return listed;
  return { ...listed, madeFor, nodeName: listed.nodeName === "" ? nodeName : listed.nodeName };
}

function hasSameTarget(one: KnownRoute, other: KnownRoute): boolean {
  const [left, right] = [one.route.targetProviderId, other.route.targetProviderId];
  return left === "" || right === "" ? left === right : isSameInstance(left, right);
}

function addTo(index: Map<string, Set<string>>, value: string, key: string): void {
  const keys = index.get(value);
  if (keys === undefined) index.set(value, new Set([key]));
  else keys.add(key);
}

function removeFrom(index: Map<string, Set<string>>, value: string, key: string): void {
  const keys = index.get(value);
  keys?.delete(key);
  if (keys?.size === 0) index.delete(value);
}

export interface Routing {
  readonly provider: Provider;
  readonly info: ProviderInfo;
  readonly capability: RouteCapabilities;
  readonly table: RouteTable;
}

/** The route tables of all providers. A new scope starts with an empty table. */
export class RouteTables {
  readonly #providers: Pick<ProviderSet, "providers">;
  readonly #tables = new Map<string, { readonly scopeId: string; readonly table: RouteTable }>();

  constructor(providers: Pick<ProviderSet, "providers">) {
    this.#providers = providers;
  }

  all(): readonly Routing[] {
    return this.#providers.providers.flatMap((provider) => this.of(provider) ?? []);
  }

  named(name: string): Routing | undefined {
    const provider = this.#providers.providers.find((candidate) => candidate.name === name);
    return provider && this.of(provider);
  }

  /** undefined: the provider does not serve routes, or is not connected yet. */
  of(provider: Provider): Routing | undefined {
    const { info } = provider;
    const capability = info?.capabilities.routes;
    if (info === undefined || capability === undefined) return undefined;
    return { provider, info, capability, table: this.#tableOf(provider.name, info.scopeId) };
  }

  #tableOf(name: string, scopeId: string): RouteTable {
    const known = this.#tables.get(name);
    if (known?.scopeId === scopeId) return known.table;
    const table = new RouteTable();
    this.#tables.set(name, { scopeId, table });
    return table;
  }
}
