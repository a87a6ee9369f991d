import type { Node } from "../api/node.ts";
import { BatchingInstanceReader, type InstanceReader } from "./lookup/instance-reader.ts";
import type { ProviderOptions } from "./options.ts";
import { exposeProviders, providerMetrics } from "./metrics.ts";
import { OwnershipReport } from "./ownership/conflicts.ts";
import { type ProviderSnapshot, Sidecar, type SidecarOptions } from "./sidecar.ts";
import { providerSet } from "./ownership/provider-set.ts";
import type { OwnershipRules, ProviderSet } from "./model/provider.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Clock } from "../util/clock.ts";
import type { ScopeRemedy } from "./connection/state.ts";

export interface ProvidersDependencies
  extends Omit<
    SidecarOptions,
    "name" | "address" | "tls" | "metrics" | "timing" | "callRates" | "scopeRemedy" | "onScopeChange" | "onReady"
  > {
  readonly options: ProviderOptions;
  readonly metrics: Metrics;
  /** Ends look-ups in flight. */
  readonly signal: AbortSignal;
  /** Nodes that are probably looked up soon. */
  readonly companions: () => readonly Node[];
  readonly nodes: () => Iterable<Node>;
  /** How an operator accepts another scope of that provider. */
  readonly scopeRemedy: (provider: string) => ScopeRemedy;
  /** Called with the reason when a changed scope blocks changes by that provider. */
  readonly onScopeChanged: (provider: string, message: string) => void;
}

export interface Providers {
  readonly providers: ProviderSet;
  readonly sidecars: readonly Sidecar[];
  readonly instances: InstanceReader;
  /** Calls `listener` whenever a provider becomes usable; returns a function that removes it. */
  onReady(listener: () => void): () => void;
  /** Why no provider is usable, for readyz; undefined: one is. A cloud outage does not count. */
  problem(): string | undefined;
  /** Problems of one provider or its declarations; undefined: none. */
  warning(provider: string): string | undefined;
  snapshots(): readonly ProviderSnapshot[];
  /** Applies the current configured call rates. */
  refreshCallRates(): void;
  /** Stays connected until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Sidecars of one pod respond within seconds of each other; until then, a silent one may own another's apparent objects. */
const SETTLING_MS = 10_000;

export function connectProviders(dependencies: ProvidersDependencies): Providers {
  const { options, clock, log, tracing, signal, companions } = dependencies;
  const listeners = new Set<() => void>();
  const metrics = providerMetrics(dependencies.metrics);
  const onReady = (): void => {
    report.check();
    for (const listener of listeners) notify(listener, log);
  };
  const sidecars = options.provider.map(({ name, address }) => {
    const tls = options.providerTls.get(name);
    const callRates = () => options.providerCallRate.filter(({ provider }) => provider === name);
    const scopeRemedy = dependencies.scopeRemedy(name);
    const onScopeChange = (message: string | undefined): void => {
      if (message !== undefined) dependencies.onScopeChanged(name, message);
    };
    return new Sidecar({
      ...dependencies,
      name,
      address,
      tls,
      callRates,
      metrics,
      scopeRemedy,
      onScopeChange,
      onReady,
    });
  });
  exposeProviders(dependencies.metrics, sidecars);
  const rules = rulesOf(options, clock);
  const providers = providerSet(sidecars, rules);
  const report = new OwnershipReport({ ...dependencies, providers, rules });
  return {
    providers,
    sidecars,
    instances: new BatchingInstanceReader({ providers, clock, signal, companions, tracing }),
    onReady: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    problem: () => (sidecars.some(isUsable) ? undefined : sidecars.map(shown).join("; ")),
    warning: (wanted) => {
      const own = sidecars.filter(({ name }) => name === wanted);
      const reasons = own.flatMap(({ health }) => health.reasons);
      const conflicts = report.conflicts().filter(({ providers: names }) => names.includes(wanted));
      const troubles = [...reasons, ...conflicts].map(({ message }) => message);
      const messages = [...troubles, ...own.flatMap(({ warnings }) => warnings)];
      return messages.length === 0 ? undefined : messages.join("; ");
    },
    snapshots: () => sidecars.map(({ snapshot }) => snapshot),
    refreshCallRates: () => {
      for (const sidecar of sidecars) sidecar.refreshCallRates();
    },
    run: async (stop) => {
      await Promise.all(sidecars.map((sidecar) => sidecar.run(stop)));
    },
  };
}

/** A panic of one controller must not affect the others. */
function notify(listener: () => void, log: Logger): void {
  try {
    listener();
  } catch (error) {
    log.error("A controller failed to handle a provider that became available; its keys wait for their next retry", {
      err: error,
    });
  }
}

function rulesOf({ providerNodeSelector, defaultLoadBalancerProvider }: ProviderOptions, clock: Clock): OwnershipRules {
  const startedAtMs = clock.monotonicMs();
  return {
    nodeSelectors: providerNodeSelector,
    defaultLoadBalancerProvider: defaultLoadBalancerProvider === "" ? undefined : defaultLoadBalancerProvider,
    isSettled: () => clock.monotonicMs() - startedAtMs >= SETTLING_MS,
  };
}

function isUsable({ health, scopeChange }: Sidecar): boolean {
  return health.ready && scopeChange === undefined;
}

function shown({ name, health }: Sidecar): string {
  return `provider ${name}: ${health.reasons.map(({ message }) => message).join("; ")}`;
}
