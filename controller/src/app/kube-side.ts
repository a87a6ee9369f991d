import { arch, platform } from "node:process";
import type { Node } from "../api/node.ts";
import type { Service } from "../api/service.ts";
import type { ApiAccess } from "../kube/access.ts";
import { createInformer } from "../kube/cache-informer.ts";
import type { KubeClient } from "../kube/client.ts";
import { EventBroadcaster, eventMetrics } from "../kube/event-broadcaster.ts";
import { HttpKubeClient } from "../kube/http-client.ts";
import type { Informer } from "../kube/informer.ts";
import { informerMetrics } from "../kube/informer-metrics.ts";
import { NODES } from "../kube/node-resource.ts";
import { restMetrics } from "../kube/rest-metrics.ts";
import { SERVICES } from "../kube/service-resource.ts";
import { Transport } from "../kube/transport.ts";
import { isUninitialized } from "../controllers/node/predicates.ts";
import type { Options } from "../options/options.ts";
import type { HealthCheck } from "../server/health.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Clock, Random } from "../util/clock.ts";
import { TokenBucket } from "../util/token-bucket.ts";

export interface KubeSideDependencies {
  readonly access: ApiAccess;
  readonly options: Pick<Options, "kubeApiQps" | "kubeApiBurst">;
  readonly version: string;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
}

/** Everything that talks to the API server. */
export interface KubeSide {
  readonly client: KubeClient;
  /** With a limit of its own, so that a burst of other writes never costs the lease. */
  readonly electionClient: KubeClient;
  readonly events: EventBroadcaster;
  readonly nodes: Informer<Node>;
  /** Nodes that wait for a cloud controller. */
  readonly uninitialized: () => readonly Node[];
  readonly services: Informer<Service>;
  readonly checks: readonly HealthCheck[];
  close(): Promise<void>;
}

const UNINITIALIZED = "uninitialized";

export function createKubeSide(dependencies: KubeSideDependencies): KubeSide {
  const { access, options, metrics, log, clock, random } = dependencies;
  const measured = restMetrics(metrics);
  const limited =
    options.kubeApiQps === 0
      ? undefined
      : new TokenBucket({ perSecond: options.kubeApiQps, burst: options.kubeApiBurst }, clock);
  const main = new Transport({ access, clock, metrics: measured, limiter: limited });
  const unlimited = new Transport({ access, clock, metrics: measured, limiter: undefined });
  const clientOf = (transport: Transport, identity: string) =>
    new HttpKubeClient({ transport, clock, metrics: measured, userAgent: userAgent(dependencies.version, identity) });
  const informerClient = clientOf(unlimited, "shared-informers");
  const informerMetricsOf = informerMetrics(metrics);
  const nodes = createInformer({
    indexes: { [UNINITIALIZED]: (node) => (isUninitialized(node) ? [UNINITIALIZED] : []) },
    resource: NODES,
    client: informerClient,
    clock,
    random,
    log,
    metrics: informerMetricsOf("Node"),
  });
  const services = createInformer({
    resource: SERVICES,
    client: informerClient,
    clock,
    random,
    log,
    metrics: informerMetricsOf("Service"),
  });
  return {
    client: clientOf(main, "cloud-controllers"),
    electionClient: clientOf(unlimited, "leader-election"),
    events: new EventBroadcaster({
      client: clientOf(unlimited, "events"),
      clock,
      random,
      log,
      metrics: eventMetrics(metrics),
    }),
    nodes,
    uninitialized: () => nodes.lister.byIndex(UNINITIALIZED, UNINITIALIZED),
    services,
    checks: [informerCheck("nodes", nodes), informerCheck("services", services)],
    close: async () => {
      await Promise.all([main.close(), unlimited.close()]);
    },
  };
}

/** client-go's form (rest/config.go v0.36.3): audit logs are searched by it. */
function userAgent(version: string, identity: string): string {
  return `cloudwire-controller-manager/v${version} (${platform}/${arch}) ${identity}`;
}

function informerCheck<T extends Node | Service>(kind: string, informer: Informer<T>): HealthCheck {
  return {
    name: `informer-${kind}`,
    problem: () => {
      if (informer.hasSynced()) return undefined;
      return `${kind} are not read yet${informer.lastFailure() === undefined ? "" : `: ${informer.lastFailure()}`}`;
    },
  };
}
