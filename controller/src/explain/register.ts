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
import type { SupervisedController } from "../runtime/supervised-controller.ts";
import { serveJson, serveJsonOf } from "../server/endpoints.ts";
import type { Cidr } from "../util/cidr.ts";
import { controllerDetails, controllersOverview, debugPlans, debugProviders } from "./endpoints/debug.ts";
import { serveExplain } from "./endpoints/explain.ts";
import type { OverviewEndpoints } from "./endpoints/overview.ts";
import { ObjectEvaluator } from "./evaluate/object-evaluator.ts";
import { Orphans } from "./evaluate/orphans.ts";
import { Explainer } from "./explainer.ts";
import type { HistoryStores } from "./history/stores.ts";
import { type OperatorOverviewDependencies, operatorOverview } from "./overview/overview.ts";

/** What runs in the process so far. */
export interface Running {
  readonly provider: Providers | undefined;
  readonly election: { readonly main: ReplicaFacts["elector"] } | undefined;
  readonly controllers: { readonly all: readonly SupervisedController[] } | undefined;
}

export interface OperatorEndpointsParts
  extends Pick<OperatorOverviewDependencies, "hasRoutes" | "metrics" | "log" | "clock"> {
  readonly options: Pick<ClusterOptions, "clusterName"> & ModeOptions & Pick<LeadershipOptions, "leaderElect">;
  readonly controllerNames: ReadonlySet<string>;
  readonly clusterCidrs: readonly Cidr[];
  readonly kube: Pick<ClusterConnection, "nodes" | "services">;
  readonly state: Running;
  /** undefined: nothing is in observe mode. */
  readonly observed: { readonly plans: Plans } | undefined;
  readonly stores: HistoryStores;
  readonly version: string;
  /** Identity of this process without leader election. */
  readonly host: string;
}

export interface OperatorEndpoints
  extends Pick<OperatorOverviewDependencies, "controllers" | "providerSnapshots" | "clock"> {
  readonly controllerNames: ReadonlySet<string>;
  /** undefined: nothing is in observe mode. */
  readonly plans: Plans | undefined;
  readonly overview: OverviewEndpoints;
  readonly explainer: Explainer;
  readonly orphans: Orphans;
}

/** `parts.state` is read at each request, because its parts are created later. */
export function operatorEndpoints(parts: OperatorEndpointsParts): OperatorEndpoints {
  const { options, controllerNames, kube, state, observed, stores: history, clock } = parts;
  const known = {
    nodes: kube.nodes,
    services: kube.services,
    clock,
    providers: () => state.provider?.providers,
    providerSnapshots: () => state.provider?.snapshots() ?? [],
    controllers: () => state.controllers?.all ?? [],
    replica: () => replicaNow(parts),
  };
  return {
    clock,
    controllerNames,
    controllers: known.controllers,
    plans: observed?.plans,
    providerSnapshots: known.providerSnapshots,
    overview: operatorOverview({ ...parts, ...known, cluster: options.clusterName, observing: observed !== undefined }),
    explainer: new Explainer({ ...known, evaluator: new ObjectEvaluator(known), history }),
    orphans: new Orphans({
      ...known,
      providers: () => known.providers()?.providers ?? [],
      routeManagement: (provider) => routeManagement(parts, provider),
      clusterCidrs: () => parts.clusterCidrs,
    }),
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

export interface ReplicaFacts extends Pick<OperatorEndpointsParts, "version" | "host"> {
  /** undefined: leader election is disabled or has not started. */
  readonly elector: Pick<LeaderElector, "identity" | "leading" | "leader"> | undefined;
  /** Its controllers run without leader election. */
  readonly isAlone: boolean;
}

export function replicaOf({ version, host, elector, isAlone }: ReplicaFacts): Replica {
  if (elector === undefined) return { identity: host, isLeader: isAlone, version };
  const { identity, leading, leader } = elector;
  const isOther = !leading && leader !== "" && leader !== identity;
  return { identity, isLeader: leading, ...(isOther ? { leaderIdentity: leader } : {}), version };
}

/** The status page and its data: read-only, and without requests to other components. */
export function serveOperatorEndpoints(server: FastifyInstance, endpoints: OperatorEndpoints): void {
  const { controllers, controllerNames, plans, providerSnapshots, overview, explainer, clock } = endpoints;
  serveJson(server, PATHS.controllers, () => controllersOverview(controllerNames, controllers()));
  serveJsonOf(server, PATHS.controllers, (given) => {
    const name = CONTROLLER_ALIASES[given] ?? given;
    return controllerNames.has(name) ? controllerDetails(name, controllers(), clock.nowMs()) : undefined;
  });
  serveJson(server, PATHS.providers, () => debugProviders(providerSnapshots(), clock.nowMs()));
  serveJson(server, PATHS.plans, () => debugPlans(plans, controllers()));
  overview.serve(server);
  serveExplain(server, explainer);
}
