import { answered } from "../model/answered.ts";
import { listed } from "../model/ownership-errors.ts";
import type { Answered, OwnershipRules, Provider } from "../model/provider.ts";
import { classesOf } from "./service-owner.ts";

/** Something that two providers declare and only one can have, or that nobody serves: for an operator to put right. */
export interface OwnershipProblem {
  readonly kind: "providerIdPrefix" | "loadBalancerClass" | "defaultLoadBalancerProvider";
  /** The prefix, the class, or the name of the provider. */
  readonly value: string;
  readonly providers: readonly string[];
  /** What is wrong, what follows, and what to do; one line. */
  readonly message: string;
}

/** What the providers that have answered so far declare and cannot all have. */
export function ownershipProblems(
  providers: readonly Provider[],
  rules: Pick<OwnershipRules, "nodeSelectors" | "defaultLoadBalancerProvider">,
): readonly OwnershipProblem[] {
  const all = answered(providers);
  const prefixes = shared(all, ({ info }) => info.providerIdPrefixes)
    // The operator has said how to tell them apart.
    .filter(({ names }) => !names.every((name) => rules.nodeSelectors.has(name)))
    .map(({ value, names }) => ({
      kind: "providerIdPrefix" as const,
      value,
      providers: names,
      message: `providers ${listed(names)} have the same provider-ID prefix ${value}: its nodes are left alone; remove one, or give each of them --provider-node-selector`,
    }));
  const classes = shared(all, ({ info }) => classesOf(info)).map(({ value, names }) => ({
    kind: "loadBalancerClass" as const,
    value,
    providers: names,
    message: `providers ${listed(names)} serve the same load-balancer class ${value}: its Services are left alone; let only one serve it`,
  }));
  return [...prefixes, ...classes, ...uselessDefault(all, providers, rules)];
}

/** Each value that more than one declares, sorted. */
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
): readonly OwnershipProblem[] {
  const servers = all.filter(({ info }) => info.capabilities.loadBalancers !== undefined);
  const names = servers.map(({ provider }) => provider.name);
  const chosen = all.find(({ provider }) => provider.name === wanted);
  if (chosen === undefined || names.includes(wanted) || names.length === 0) return [];
  const message = `Services without class go to provider ${wanted}, which serves no load balancers: they are left alone; name ${listed(names)} with --default-load-balancer-provider`;
  return [{ kind: "defaultLoadBalancerProvider", value: wanted, providers: [wanted], message }];
}
