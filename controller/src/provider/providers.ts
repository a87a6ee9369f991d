import type { ClusterRef } from "./model/info.ts";
import type { Node } from "../api/node.ts";
import type { WriteFilter } from "../observe/write-filter.ts";
import type { ChangeAudit } from "./observers/audit.ts";
import type { CallSink } from "./observers/observed-caller.ts";
import { BatchingInstanceReader, type InstanceReader } from "./lookup/instance-reader.ts";
import type { ProviderOptions } from "./options.ts";
import { exposeProviders, providerMetrics } from "./metrics.ts";
import { OwnershipReport } from "./ownership/conflicts.ts";
import { type ProviderSnapshot, Sidecar, type SidecarOptions } from "./sidecar.ts";
import { providerSet } from "./ownership/provider-set.ts";
import type { OwnershipRules, ProviderSet } from "./model/provider.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { RecordingSink } from "../telemetry/recording-log.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import type { Clock, Random } from "../util/clock.ts";
import type { ScopeRemedy } from "./connection/state.ts";
import type { ChangeNumbers } from "./model/client.ts";

export interface ProvidersDependencies {
  readonly options: ProviderOptions;
  readonly cluster: ClusterRef;
  readonly version: string;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  /** A random UUID, in production. */
  readonly newId: () => string;
  /** Of this process. */
  readonly userId: number | undefined;
  readonly tracing: Tracing;
  /** Decides whether changes are made or only planned. @default they are made */
  readonly filter?: WriteFilter | undefined;
  /** Told of each call that may change something. @default nobody is */
  readonly audit?: ChangeAudit | undefined;
  /** Remembers the last calls. @default nobody does */
  readonly journal?: CallSink | undefined;
  /** Gets what goes over the wire to providers. @default nobody does */
  readonly recording?: RecordingSink | undefined;
  /** Ends look-ups under way. */
  readonly signal: AbortSignal;
  /** Nodes that will be looked up soon. */
  readonly companions: () => readonly Node[];
  /** All Nodes. */
  readonly nodes: () => Iterable<Node>;
  /** Of changes, whatever provider makes them. */
  readonly numbers: ChangeNumbers;
  /** How an operator accepts another scope of that provider. */
  readonly scopeRemedy: (provider: string) => ScopeRemedy;
  /** Told why nothing is changed by that provider any more. */
  readonly onScopeChanged: (provider: string, message: string) => void;
}

/** Everything that talks to providers. */
export interface Providers {
  readonly providers: ProviderSet;
  /** The same, as they say that they are. */
  readonly sidecars: readonly Sidecar[];
  readonly instances: InstanceReader;
  /** Calls back whenever a provider has become usable; answers how to end that. */
  onReady(listener: () => void): () => void;
  /** Why no provider can be used now, for readyz; undefined: one can, so this process is of use. A cloud that is down is no reason. */
  problem(): string | undefined;
  /** What is wrong with one provider, or with what it declares; undefined: nothing known. */
  warning(provider: string): string | undefined;
  /** For people. */
  snapshots(): readonly ProviderSnapshot[];
  /** Reads again how often clouds may be called. */
  refreshCallRates(): void;
  /** Stays connected until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Sidecars of one pod answer within seconds of each other; until then one that is silent may own what seems to be another's. */
const SETTLING_MS = 10_000;

export function connectProviders(dependencies: ProvidersDependencies): Providers {
  const { options, cluster, version, clock, random, newId, userId, log, tracing, signal, companions } = dependencies;
  const listeners = new Set<() => void>();
  const metrics = providerMetrics(dependencies.metrics);
  const onReady = (): void => {
    report.check();
    for (const listener of listeners) tell(listener, log);
  };
  const sidecars = options.provider.map(({ name, address }) => {
    const tls = options.providerTls.get(name);
    const callRates = () => options.providerCallRate.filter(({ provider }) => provider === name);
    const onScopeChange = (message: string | undefined): void => {
      if (message !== undefined) dependencies.onScopeChanged(name, message);
    };
    const scope = { scopeRemedy: dependencies.scopeRemedy(name), onScopeChange };
    const shared = {
      cluster,
      version,
      clock,
      random,
      newId,
      userId,
      log,
      metrics,
      tracing,
      numbers: dependencies.numbers,
      onReady,
    };
    return new Sidecar({ name, address, tls, callRates, ...shared, ...scope, ...told(dependencies) });
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
      const contested = report.problems().filter(({ providers: names }) => names.includes(wanted));
      const troubles = [...reasons, ...contested].map(({ message }) => message);
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

/** Who hears of calls, each only where somebody wants to. */
function told({ filter, audit, journal, recording }: ProvidersDependencies): Partial<SidecarOptions> {
  return {
    ...(filter && { filter }),
    ...(audit && { audit }),
    ...(journal && { journal }),
    ...(recording && { recording }),
  };
}

/** A fault of one controller is none of the provider's, nor of the other controllers. */
function tell(listener: () => void, log: Logger): void {
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
