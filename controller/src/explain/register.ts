import { PATHS, type Replica } from "@cloudwire/operator-api";
import type { FastifyInstance } from "fastify";
import { CONTROLLER_ALIASES, NODE_ROUTE_CONTROLLER } from "../api/controller-names.ts";
import type { ClusterConnection } from "../kube/cluster.ts";
import type { ClusterOptions } from "../kube/options.ts";
import type { LeaderElector } from "../leadership/elector.ts";
import type { LeadershipOptions } from "../leadership/options.ts";
import { holdsLease, isObserved, type Mode, type ModeOptions, modesOf } from "../observe/mode.ts";
import type { Plans } from "../observe/plans.ts";
import type { Providers } from "../provider/providers.ts";
import type { ProviderSnapshot } from "../provider/sidecar.ts";
import type { SupervisedController } from "../runtime/supervised-controller.ts";
import { serveJson, serveJsonOf } from "../server/endpoints.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Cidr } from "../util/cidr.ts";
import type { Clock } from "../util/clock.ts";
import { controllerDetails, controllersOverview, debugPlans, debugProviders } from "./endpoints/debug.ts";
import { ExplainEndpoints } from "./endpoints/explain.ts";
import type { OverviewEndpoints } from "./endpoints/overview.ts";
import { ObjectEvaluator } from "./evaluate/object-evaluator.ts";
import { Orphans } from "./evaluate/orphans.ts";
import { Explainer } from "./explainer.ts";
import type { HistoryStores } from "./history/stores.ts";
import { operatorOverview } from "./overview/overview.ts";

/** What runs in the process so far. */
export interface Running {
  readonly provider: Providers | undefined;
  readonly election: { readonly main: ReplicaFacts["elector"] } | undefined;
  readonly controllers: { readonly all: readonly SupervisedController[] } | undefined;
}

export interface OperatorEndpointsParts {
  readonly options: Pick<ClusterOptions, "clusterName"> & ModeOptions & Pick<LeadershipOptions, "leaderElect">;
  /** Canonical names of all controllers of the program. */
  readonly controllerNames: ReadonlySet<string>;
  /** Routes are managed here, or where it leads. */
  readonly hasRoutes: boolean;
  /** Ranges of all pods. */
  readonly clusterCidrs: readonly Cidr[];
  readonly kube: Pick<ClusterConnection, "nodes" | "services">;
  readonly state: Running;
  /** undefined: all plans are carried out. */
  readonly observed: { readonly plans: Plans } | undefined;
  readonly memories: HistoryStores;
  readonly metrics: Metrics;
  readonly version: string;
  /** Name of this process where there is no election. */
  readonly host: string;
  readonly log: Logger;
  readonly clock: Clock;
}

/** What endpoints show to operators. */
export interface OperatorEndpoints {
  /** Canonical names of all controllers of the program. */
  readonly controllerNames: ReadonlySet<string>;
  /** None before they are built. */
  readonly controllers: () => readonly SupervisedController[];
  /** undefined: all plans are carried out. */
  readonly plans: Plans | undefined;
  /** None before they are connected to. */
  readonly providerSnapshots: () => readonly ProviderSnapshot[];
  readonly overview: OverviewEndpoints;
  readonly explain: ExplainEndpoints;
  readonly clock: Clock;
}

/** What operators are told of everything, from the parts of a daemon; of those that are not made yet, as soon as they are. */
export function operatorEndpoints(parts: OperatorEndpointsParts): OperatorEndpoints {
  const { options, controllerNames, hasRoutes, kube, state, observed, memories: history, metrics, log, clock } = parts;
  const known = {
    nodes: kube.nodes,
    services: kube.services,
    clock,
    providers: () => state.provider?.providers,
    providerSnapshots: () => state.provider?.snapshots() ?? [],
    controllers: () => state.controllers?.all ?? [],
    replica: () => replicaNow(parts),
    hasRoutes,
  };
  const orphans = new Orphans({
    ...known,
    providers: () => known.providers()?.providers ?? [],
    routeManagement: (provider) => routeManagement(parts, provider),
    clusterCidrs: () => parts.clusterCidrs,
  });
  return {
    clock,
    controllerNames,
    controllers: known.controllers,
    plans: observed?.plans,
    providerSnapshots: known.providerSnapshots,
    overview: operatorOverview({
      ...known,
      cluster: options.clusterName,
      observing: observed !== undefined,
      controllerNames,
      metrics,
      log,
    }),
    explain: new ExplainEndpoints(new Explainer({ ...known, evaluator: new ObjectEvaluator(known), history }), orphans),
  };
}

function replicaNow({ options, state, version, host }: OperatorEndpointsParts): Replica {
  const isAlone = !holdsLease(options) && state.controllers !== undefined;
  return replicaOf({ version, host, elector: state.election?.main, isAlone });
}

function routeManagement({ options, hasRoutes }: OperatorEndpointsParts, provider: string): Mode | "off" {
  if (!hasRoutes) return "off";
  return isObserved(modesOf(options), NODE_ROUTE_CONTROLLER, provider) ? "observe" : "active";
}

export interface ReplicaFacts {
  readonly version: string;
  /** Names the process where there is no election. */
  readonly host: string;
  /** undefined: there is no election, or it has not begun. */
  readonly elector: Pick<LeaderElector, "identity" | "leading" | "leader"> | undefined;
  /** Its controllers run without an election. */
  readonly isAlone: boolean;
}

/** Which process says something, and whether it is the one that does the work. */
export function replicaOf({ version, host, elector, isAlone }: ReplicaFacts): Replica {
  if (elector === undefined) return { identity: host, isLeader: isAlone, version };
  const { identity, leading, leader: leaderIdentity } = elector;
  const isOther = !leading && leaderIdentity !== "" && leaderIdentity !== identity;
  return { identity, isLeader: leading, ...(isOther ? { leaderIdentity } : {}), version };
}

/** What the status page shows, and the page. Nothing there can be changed, and nobody else is asked for it. */
export function serveOperatorEndpoints(server: FastifyInstance, pages: OperatorEndpoints): void {
  const { controllers, plans, providerSnapshots, overview, explain, clock } = pages;
  serveControllers(server, pages);
  serveJson(server, PATHS.providers, () => debugProviders(providerSnapshots(), clock.nowMs()));
  serveJson(server, PATHS.plans, () => debugPlans(plans, controllers()));
  overview.serve(server);
  explain.serveExplain(server);
}

/** Costs nothing until somebody asks. */
function serveControllers(server: FastifyInstance, { controllers, controllerNames, clock }: OperatorEndpoints): void {
  serveJson(server, PATHS.controllers, () => controllersOverview(controllerNames, controllers()));
  serveJsonOf(server, PATHS.controllers, (given) => {
    const name = CONTROLLER_ALIASES[given] ?? given;
    return controllerNames.has(name) ? controllerDetails(name, controllers(), clock.nowMs()) : undefined;
  });
}
