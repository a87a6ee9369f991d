import type { LoadBalancer } from "../../provider/model/load-balancer.ts";
import type { Provider, ProviderSet } from "../../provider/model/provider.ts";
import { type ReconcileContext, type Result, requeueAfter } from "../../runtime/reconciler.ts";
import type { Source } from "../../runtime/source.ts";
import type { Random } from "../../util/clock.ts";
import type { DriftPace, DriftWatch } from "./drift-watch.ts";
import type { Entry, Ledger } from "./ledger.ts";
import { isSuspect } from "./plan/drift.ts";
import type { Strays } from "./strays.ts";

export interface DriftSweepDependencies {
  readonly providers: Pick<ProviderSet, "providers">;
  readonly ledger: Ledger;
  readonly drift: DriftWatch;
  readonly strays: Strays;
  readonly random: Random;
  readonly pace: DriftPace;
}

/** Keys of sweeps; those of Services have a slash. */
const PREFIX = "drift-sweep:";

/** A provider that is away now is asked again so soon. */
const AWAY_MS = 60_000;

/** While sweeps are off it is looked so often whether they still are. */
const OFF_MS = 60_000;

/** What was found at once is looked at within this time, one after the other. */
const SPREAD_MS = 10_000;

export function isSweepKey(key: string): boolean {
  return key.startsWith(PREFIX);
}

/** Name of the provider that a sweep is about. */
export function sweptProvider(key: string): string {
  return key.slice(PREFIX.length);
}

/** A sweep of each provider after each period, and the Services in which one takes an interest. */
export function driftSource({ providers, drift, random, pace }: DriftSweepDependencies): Source {
  return {
    name: "drift",
    ready: () => Promise.resolve(),
    start: (queue) => {
      const low = { priority: "low" } as const;
      const { periodMs } = pace;
      const delayMs = (): number => (periodMs === 0 ? OFF_MS : jittered(periodMs, random));
      for (const { name } of providers.providers) queue.addAfter(PREFIX + name, delayMs(), low);
      return drift.listen((key, delayMs) => queue.addAfter(key, delayMs, low));
    },
  };
}

/** Compares what a provider has with what it has acknowledged: by one list, or else by a read each, spread over the period. */
export async function sweep(deps: DriftSweepDependencies, context: ReconcileContext): Promise<Result> {
  const { providers, ledger, drift, random, pace } = deps;
  if (pace.periodMs === 0) return requeueAfter(OFF_MS);
  const name = sweptProvider(context.key);
  const provider = providers.providers.find((candidate) => candidate.name === name);
  const info = provider?.info;
  const periodMs = Math.max(pace.periodMs, info?.limits.minResyncIntervalMs ?? 0);
  if (provider === undefined || info === undefined || isDoubtful(provider)) {
    return requeueAfter(Math.min(AWAY_MS, periodMs));
  }
  const entries = [...ledger.entries()].filter(([, entry]) => entry.provider === name);
  if (info.capabilities.loadBalancers?.list !== undefined) {
    await compare(provider, entries, deps, context);
  } else {
    for (const [key] of entries) drift.suspect(key, random() * periodMs);
  }
  return requeueAfter(jittered(periodMs, random));
}

async function compare(
  provider: Provider,
  entries: readonly (readonly [string, Entry])[],
  { ledger, drift, strays, random }: DriftSweepDependencies,
  { signal, log }: ReconcileContext,
): Promise<void> {
  const { items, complete } = await provider.client.listLoadBalancers({ signal, priority: "low" });
  const byUid = new Map(items.map((item): [string, LoadBalancer] => [item.service.uid, item]));
  strays.seen(provider, items, log);
  if (isDoubtful(provider)) return;
  for (const [key, entry] of entries) {
    const loadBalancer = byUid.get(entry.service.metadata.uid);
    const isKnown = loadBalancer !== undefined || complete;
    // What was changed by us while the list was read may be on it or not.
    if (!isKnown || ledger.entry(key) !== entry) continue;
    if (isSuspect(entry, loadBalancer)) drift.suspect(key, random() * SPREAD_MS);
    else drift.steady(key);
  }
}

/** Nothing is concluded from what it lacks. */
function isDoubtful({ unavailable, doubt }: Provider): boolean {
  return unavailable !== undefined || doubt !== undefined;
}

/** A tenth earlier or later: the sweeps of many clusters do not meet at one cloud. */
function jittered(periodMs: number, random: Random): number {
  return periodMs * (0.9 + 0.2 * random());
}
