import type { Node } from "../../api/node.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { listed } from "../model/errors.ts";
import { type Answered, type OwnershipRules, type Provider, type ProviderSet, answered } from "../model/provider.ts";
import { classesOf } from "./provider-set.ts";

/** A conflict of declarations, or a useless default provider, that an operator must fix. */
export interface OwnershipConflict {
  readonly kind: "providerIdPrefix" | "loadBalancerClass" | "defaultLoadBalancerProvider";
  /** The prefix, the class, or the name of the provider. */
  readonly value: string;
  readonly providers: readonly string[];
  /** One line: the problem, its effect, and how to fix it. */
  readonly message: string;
}

/** Conflicts between the providers that have responded so far. */
export function ownershipConflicts(
  providers: readonly Provider[],
  rules: Pick<OwnershipRules, "nodeSelectors" | "defaultLoadBalancerProvider">,
): readonly OwnershipConflict[] {
  const all = answered(providers);
  const prefixes = shared(all, ({ info }) => info.providerIdPrefixes)
    // The operator's selectors distinguish them.
    .filter(({ names }) => !names.every((name) => rules.nodeSelectors.has(name)))
    .map(({ value, names }) => ({
      kind: "providerIdPrefix" as const,
      value,
      providers: names,
      message: `providers ${listed(names)} have the same provider-ID prefix ${value}: its Nodes are not changed; remove one, or set --provider-node-selector for each`,
    }));
  const classes = shared(all, ({ info }) => classesOf(info)).map(({ value, names }) => ({
    kind: "loadBalancerClass" as const,
    value,
    providers: names,
    message: `providers ${listed(names)} serve the same load-balancer class ${value}: its Services are not changed; configure only one to serve it`,
  }));
  return [...prefixes, ...classes, ...uselessDefault(all, providers, rules)];
}

/** Values that several providers declare, sorted. */
function shared(
  all: readonly Answered[],
  valuesOf: (one: Answered) => readonly string[],
): readonly { readonly value: string; readonly names: readonly string[] }[] {
  const declaring = new Map<string, Set<string>>();
  for (const one of all) {
    for (const value of valuesOf(one)) {
      declaring.set(value, (declaring.get(value) ?? new Set()).add(one.provider.name));
    }
  }
  return [...declaring]
    .flatMap(([value, names]) => (names.size > 1 ? [{ value, names: [...names] }] : []))
    .toSorted((left, right) => (left.value < right.value ? -1 : 1));
}

function uselessDefault(
  all: readonly Answered[],
  providers: readonly Provider[],
  {
    defaultLoadBalancerProvider: wanted = providers[0]?.name ?? "",
  }: Pick<OwnershipRules, "defaultLoadBalancerProvider">,
): readonly OwnershipConflict[] {
  const servers = all.filter(({ info }) => info.capabilities.loadBalancers !== undefined);
  const names = servers.map(({ provider }) => provider.name);
  const chosen = all.find(({ provider }) => provider.name === wanted);
  if (chosen === undefined || names.includes(wanted) || names.length === 0) return [];
  const message = `provider ${wanted} owns Services without class but does not support load balancers: they are not changed; set --default-load-balancer-provider to ${listed(names)}`;
  return [{ kind: "defaultLoadBalancerProvider", value: wanted, providers: [wanted], message }];
}

export interface OwnershipReportDeps {
  readonly providers: ProviderSet;
  readonly rules: Pick<OwnershipRules, "nodeSelectors" | "defaultLoadBalancerProvider">;
  /** All Nodes known. */
  readonly nodes: () => Iterable<Node>;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Reports Nodes by owner and conflicts in metrics, and each conflict once in the log. */
export class OwnershipReport {
  readonly #deps: OwnershipReportDeps;
  #logged: ReadonlyMap<string, OwnershipConflict> = new Map();

  constructor(deps: OwnershipReportDeps) {
    this.#deps = deps;
    deps.metrics.gauge({
      name: "cloudwire_nodes",
      help: "Nodes by owning provider. provider is empty for unowned and undecided Nodes, which the controller does not change.",
      labels: ["provider", "state"],
      collect: (gauge) => {
        gauge.reset();
        for (const { name } of deps.providers.providers) gauge.set({ provider: name, state: "owned" }, 0);
        for (const state of ["unowned", "undecided"]) gauge.set({ provider: "", state }, 0);
        for (const node of deps.nodes()) {
          const owner = deps.providers.ownerOfNode(node);
          gauge.inc({ provider: owner.kind === "owned" ? owner.provider.name : "", state: owner.kind });
        }
      },
    });
    deps.metrics.gauge({
      name: "cloudwire_ownership_conflicts",
      help: "1 for each provider-ID prefix or load-balancer class that several providers declare, and for a default provider without load balancers.",
      labels: ["kind", "value"],
      collect: (gauge) => {
        gauge.reset();
        for (const { kind, value } of this.conflicts()) gauge.set({ kind, value }, 1);
      },
    });
  }

  conflicts(): readonly OwnershipConflict[] {
    return ownershipConflicts(this.#deps.providers.providers, this.#deps.rules);
  }

  /** Logs new and resolved conflicts after a handshake. */
  check(): void {
    const { log } = this.#deps;
    const now = new Map(this.conflicts().map((one) => [`${one.kind} ${one.value} ${one.providers.join()}`, one]));
    for (const [id, { kind, value, providers, message }] of now) {
      if (!this.#logged.has(id))
        log.error("Declarations of providers conflict", { kind, value, providers, detail: message });
    }
    for (const [id, { kind, value }] of this.#logged) {
      if (!now.has(id)) log.info("Declarations of providers no longer conflict", { kind, value });
    }
    this.#logged = now;
  }
}
