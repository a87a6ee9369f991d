import type { Provider, ProviderSet } from "../../provider/model/provider.ts";
import type { RouteCapabilities, ProviderInfo } from "../../provider/model/info.ts";
import { RouteTable } from "./route-table.ts";

/** A provider that routes, and what is known of its routes. */
export interface Routing {
  readonly provider: Provider;
  readonly info: ProviderInfo;
  readonly capability: RouteCapabilities;
  readonly table: RouteTable;
}

/** The route tables of all providers. What is known of one scope says nothing of another. */
export class RouteTables {
  readonly #providers: Pick<ProviderSet, "providers">;
  readonly #tables = new Map<string, { readonly scopeId: string; readonly table: RouteTable }>();

  constructor(providers: Pick<ProviderSet, "providers">) {
    this.#providers = providers;
  }

  /** Providers that route. */
  all(): readonly Routing[] {
    return this.#providers.providers.flatMap((provider) => this.of(provider) ?? []);
  }

  named(name: string): Routing | undefined {
    const provider = this.#providers.providers.find((candidate) => candidate.name === name);
    return provider && this.of(provider);
  }

  /** undefined: the provider makes no routes, or has not said yet. */
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
