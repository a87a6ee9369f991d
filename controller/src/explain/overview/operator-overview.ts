import type { Overview, Replica } from "@cloudwire/operator-api";
import type { Node } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import type { Informer } from "../../kube/cache/informer-interface.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import type { ProviderSnapshot } from "../../provider/provider-snapshot.ts";
import type { SupervisedController } from "../../runtime/supervised-controller.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Clock } from "../../util/clock.ts";
import { controllersOverview } from "../endpoints/debug.ts";
import { ObjectJudge } from "../evaluate/object-evaluator.ts";
import { alarmsOf } from "./alarms.ts";
import { ClusterObjects } from "./status-objects.ts";
import { overviewOf } from "./overview.ts";
import { OverviewPages } from "../endpoints/overview.ts";
import { Samples } from "./samples.ts";
import { StatusBoard } from "./status-cache.ts";
import { totalsOf } from "./totals.ts";

export interface OperatorOverviewDependencies {
  readonly cluster: string;
  readonly replica: () => Replica;
  /** False: something is only observed. */
  readonly writes: boolean;
  readonly nodes: Informer<Node>;
  readonly services: Informer<Service>;
  /** undefined before they are connected to. */
  readonly providers: () => ProviderSet | undefined;
  readonly providerSnapshots: () => readonly ProviderSnapshot[];
  /** Canonical names of all that the program has. */
  readonly controllerNames: Iterable<string>;
  /** None before they are built. */
  readonly controllers: () => readonly SupervisedController[];
  /** Routes are managed here, or where it leads. */
  readonly hasRoutes: boolean;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

const BRIEF_MS = 250;

/** The board of everything in the cluster that is this program's, with its pages. Costs nothing until somebody looks. */
export function operatorOverview(dependencies: OperatorOverviewDependencies): OverviewPages {
  const { clock, metrics, log } = dependencies;
  const providerSnapshots = briefly(dependencies.providerSnapshots, clock);
  const judge = new ObjectJudge({ ...dependencies, providerSnapshots });
  const board = new StatusBoard({
    objects: new ClusterObjects({ ...dependencies, providerSnapshots, judge }),
    overview: (counts) => present(dependencies, { board, judge }, counts),
    clock,
    log,
  });
  return new OverviewPages({
    board,
    samples: new Samples({ totals: () => totalsOf(metrics), clock, log }),
    clock,
    log,
  });
}

async function present(
  dependencies: OperatorOverviewDependencies,
  { board, judge }: { readonly board: StatusBoard; readonly judge: ObjectJudge },
  counts: Overview["counts"],
): Promise<Overview> {
  const { cluster, replica, writes, clock, metrics, controllers, controllerNames, providerSnapshots } = dependencies;
  const shown = controllersOverview(controllerNames, controllers());
  const providers = providerSnapshots();
  const rows = providers.flatMap(({ name }) => board.row(`provider/${name}`)?.row ?? []);
  const brakes = judge.brakes();
  return overviewOf({
    nowMs: clock.nowMs(),
    cluster,
    replica: replica(),
    writes,
    counts,
    controllers: shown,
    providers,
    totals: await totalsOf(metrics),
    brakes,
    alarms: alarmsOf({ providers: rows, brakes, controllers: shown }),
  });
}

/** The same answer for a moment: of thousands of rows made together each asks for it. */
function briefly<T>(ask: () => T, clock: Clock): () => T {
  let last: { readonly answer: T; readonly atMs: number } | undefined;
  return () => {
    const atMs = clock.monotonicMs();
    if (last === undefined || atMs - last.atMs >= BRIEF_MS) last = { answer: ask(), atMs };
    return last.answer;
  };
}
