import type { ClusterRef } from "@cloudwire/proto/cloudprovider/v1/common";
import type { Node } from "../api/node.ts";
import type { Options } from "../options/options.ts";
import { BatchingInstanceReader, type InstanceReader } from "../provider/instance-reader.ts";
import { providerMetrics } from "../provider/metrics.ts";
import { Sidecar } from "../provider/provider.ts";
import { PrefixProviderSet, type ProviderSet } from "../provider/provider-set.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Clock, Random } from "../util/clock.ts";

export interface ProviderSideDependencies {
  readonly options: Pick<Options, "provider">;
  readonly cluster: ClusterRef;
  readonly version: string;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  /** Ends look-ups under way. */
  readonly signal: AbortSignal;
  /** Nodes that will be looked up soon. */
  readonly companions: () => readonly Node[];
}

/** Everything that talks to providers. */
export interface ProviderSide {
  readonly providers: ProviderSet;
  readonly instances: InstanceReader;
  /** Calls back whenever a provider has become usable; answers how to end that. */
  onReady(listener: () => void): () => void;
  /** Why some provider cannot be used now, for readyz; undefined: all can. A cloud that is down is not among the reasons. */
  problem(): string | undefined;
  /** Stays connected until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function connectProviders(dependencies: ProviderSideDependencies): ProviderSide {
  const { options, cluster, version, clock, random, log, signal, companions } = dependencies;
  const listeners = new Set<() => void>();
  const metrics = providerMetrics(dependencies.metrics);
  const onReady = (): void => {
    for (const listener of listeners) listener();
  };
  const sidecars = options.provider.map(
    ({ name, address }) => new Sidecar({ name, address, cluster, version, clock, random, log, metrics, onReady }),
  );
  const providers = new PrefixProviderSet(sidecars);
  return {
    providers,
    instances: new BatchingInstanceReader({ providers, clock, signal, companions }),
    onReady: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    problem: () => problemOf(sidecars),
    run: async (stop) => {
      await Promise.all(sidecars.map((sidecar) => sidecar.run(stop)));
    },
  };
}

function problemOf(sidecars: readonly Sidecar[]): string | undefined {
  const problems = sidecars
    .filter(({ health }) => !health.ready)
    .map(({ name, health }) => `provider ${name}: ${health.reasons.map(({ message }) => message).join("; ")}`);
  return problems.length === 0 ? undefined : problems.join("; ");
}
