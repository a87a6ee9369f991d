import { hostname } from "node:os";
import type { Replica } from "@cloudwire/operator-api";
import { NODE_ROUTE_CONTROLLER } from "../api/controller-names.ts";
import type { Observing } from "../app/cluster.ts";
import { CONTROLLERS, enabledControllers } from "../app/controllers.ts";
import { managesRoutes, nodeRouteSettings } from "../app/node-route.ts";
import type { Options } from "../app/options.ts";
import type { ProcessState } from "../app/readiness.ts";
import type { PagesDependencies } from "../app/serving.ts";
import type { KubeSide } from "../kube/cluster.ts";
import type { LeaderElector } from "../leadership/elector.ts";
import { type Mode, isObserved } from "../observe/mode.ts";
import { holdsLease, modesOf } from "../observe/mode.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Clock } from "../util/clock.ts";
import { ExplainPages } from "./endpoints/explain.ts";
import { ObjectJudge } from "./evaluate/object-evaluator.ts";
import { Orphans } from "./evaluate/orphans.ts";
import { Explainer } from "./explainer.ts";
import type { Memories } from "./history/stores.ts";
import { operatorOverview } from "./overview/overview.ts";

export interface OperatorPagesParts {
  readonly options: Options;
  readonly kube: Pick<KubeSide, "nodes" | "services">;
  readonly state: ProcessState;
  readonly observed: Observing | undefined;
  readonly memories: Memories;
  readonly metrics: Metrics;
  readonly version: string;
  readonly log: Logger;
  readonly clock: Clock;
}

/** What operators are told of everything, from the parts of a daemon; of those that are not made yet, as soon as they are. */
export function operatorPages(
  parts: OperatorPagesParts,
): Pick<PagesDependencies, "controllers" | "plans" | "providerSnapshots" | "overview" | "explain"> {
  const { options, kube, state, observed, memories, metrics, log, clock } = parts;
  const known = {
    nodes: kube.nodes,
    services: kube.services,
    clock,
    providers: () => state.provider?.providers,
    providerSnapshots: () => state.provider?.snapshots() ?? [],
    controllers: () => state.controllers?.all ?? [],
    replica: () => replicaNow(parts),
    hasRoutes: hasRoutes(options),
  };
  const orphans = new Orphans({
    ...known,
    providers: () => known.providers()?.providers ?? [],
    routeManagement: (provider) => routeManagement(options, provider),
    clusterCidrs: () => nodeRouteSettings(options).clusterCidrs,
  });
  return {
    controllers: known.controllers,
    plans: observed?.plans,
    providerSnapshots: known.providerSnapshots,
    overview: operatorOverview({
      ...known,
      cluster: options.clusterName,
      writes: observed === undefined,
      controllerNames: CONTROLLERS,
      metrics,
      log,
    }),
    explain: new ExplainPages(new Explainer({ ...known, judge: new ObjectJudge(known), memories }), orphans),
  };
}

function replicaNow({ options, state, version }: OperatorPagesParts): Replica {
  const isAlone = !holdsLease(options) && state.controllers !== undefined;
  return replicaOf({ version, elector: state.election?.main, isAlone });
}

function routeManagement(options: Options, provider: string): Mode | "off" {
  if (!hasRoutes(options)) return "off";
  return isObserved(modesOf(options), NODE_ROUTE_CONTROLLER, provider) ? "observe" : "active";
}

/** Routes are managed here, or where it leads. */
function hasRoutes(options: Options): boolean {
  return enabledControllers(options).includes(NODE_ROUTE_CONTROLLER) && managesRoutes(options);
}

export interface ReplicaFacts {
  readonly version: string;
  /** undefined: there is no election, or it has not begun. */
  readonly elector: Pick<LeaderElector, "identity" | "leading" | "leader"> | undefined;
  /** Its controllers run without an election. */
  readonly isAlone: boolean;
}

/** Which process says something, and whether it is the one that does the work. */
export function replicaOf({ version, elector, isAlone }: ReplicaFacts): Replica {
  if (elector === undefined) return { identity: hostname(), leads: isAlone, version };
  const { identity, leading, leader } = elector;
  const isOther = !leading && leader !== "" && leader !== identity;
  return { identity, leads: leading, ...(isOther ? { leader } : {}), version };
}
