import type {
  Alarm,
  DeletionCircuitBreaker,
  CallBudgetStatus,
  ControllerSummary,
  ObjectRow,
  Overview,
  ProviderSummary,
  Replica,
} from "@cloudwire/operator-api";
import type { Node } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import type { BudgetSnapshot } from "../../provider/model/call-rate.ts";
import { callsByProvider } from "../../provider/observers/metrics.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import type { ProviderSnapshot } from "../../provider/sidecar.ts";
import { reconcilesByController } from "../../runtime/metrics.ts";
import type { SupervisedController } from "../../runtime/supervised-controller.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Clock } from "../../util/clock.ts";
import { iso } from "../../util/text.ts";
import { type ControllerOverview, controllersOverview } from "../endpoints/debug.ts";
import { OverviewEndpoints } from "../endpoints/overview.ts";
import { ObjectEvaluator } from "../evaluate/object-evaluator.ts";
import { REASONS, type Reason, cause } from "../reasons/reasons.ts";
import { Samples, type Totals } from "./samples.ts";
import { StatusCache } from "./status-cache.ts";
import { ClusterObjects } from "./status-objects.ts";

/** All that an overview is made of. */
export interface OverviewFacts {
  /** Wall clock. */
  readonly nowMs: number;
  readonly cluster: string;
  readonly replica: Replica;
  readonly observing: boolean;
  readonly counts: Overview["counts"];
  readonly controllers: readonly ControllerOverview[];
  readonly providers: readonly ProviderSnapshot[];
  readonly totals: Totals;
  /** By provider; absent: nothing is held. */
  readonly circuitBreakers: ReadonlyMap<string, DeletionCircuitBreaker>;
  /** Most serious first. */
  readonly alarms: readonly Alarm[];
}

export function overviewOf(facts: OverviewFacts): Overview {
  const { nowMs, cluster, replica, observing, counts, controllers, providers, alarms } = facts;
  return {
    time: iso(nowMs),
    cluster,
    replica,
    observing,
    counts,
    controllers: controllers.map(controllerSummary),
    providers: providers.map((snapshot) => providerSummary(snapshot, facts)),
    alarms,
  };
}

function controllerSummary({
  name,
  state,
  queues = [],
  processing = 0,
  delayed = 0,
  failing = 0,
}: ControllerOverview): ControllerSummary {
  const queued = queues.reduce((sum, { high, low }) => sum + high + low, 0);
  return { name, state, queued, processing, delayed, failing };
}

function providerSummary(
  snapshot: ProviderSnapshot,
  { totals, circuitBreakers, nowMs, replica }: OverviewFacts,
): ProviderSummary {
  const { name, address, connection, health, info, calls, budgets } = snapshot;
  return {
    name,
    address,
    connection,
    ready: health.ready,
    reasons: health.reasons.map(({ message }) => message),
    ...(info === undefined ? {} : { version: info.version }),
    calls: totals.calls[name] ?? 0,
    failedCalls: totals.failedCalls[name] ?? 0,
    inFlight: calls.inFlight,
    budgets: budgets.map((budget) => budgetStatus(budget, nowMs)),
    ...(replica.isLeader
      ? { deletionCircuitBreaker: circuitBreakers.get(name) ?? { open: false, absentNodes: 0 } }
      : {}),
  };
}

/** One for each budget: classes that share it have one level. */
function budgetStatus(
  { classes, cloudCallsPerSecond, tokens, waiting, heldMs }: BudgetSnapshot,
  nowMs: number,
): CallBudgetStatus {
  return {
    quotaClass: classes.join(", "),
    ...(cloudCallsPerSecond === undefined ? {} : { cloudCallsPerSecond: hundredths(cloudCallsPerSecond) }),
    ...(tokens === undefined ? {} : { tokens: hundredths(tokens) }),
    queuedCalls: Object.values(waiting).reduce((sum, count) => sum + count, 0),
    ...(heldMs === 0 ? {} : { throttledUntilTime: iso(nowMs + heldMs) }),
  };
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

export interface OperatorOverviewDependencies {
  readonly cluster: string;
  readonly replica: () => Replica;
  /** False: something is only observed. */
  readonly observing: boolean;
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
export function operatorOverview(dependencies: OperatorOverviewDependencies): OverviewEndpoints {
  const { clock, metrics, log } = dependencies;
  const providerSnapshots = briefly(dependencies.providerSnapshots, clock);
  const evaluator = new ObjectEvaluator({ ...dependencies, providerSnapshots });
  const cache = new StatusCache({
    objects: new ClusterObjects({ ...dependencies, providerSnapshots, evaluator }),
    overview: (counts) => present(dependencies, { board: cache, judge: evaluator }, counts),
    clock,
    log,
  });
  return new OverviewEndpoints({
    cache,
    samples: new Samples({ totals: () => totalsOf(metrics), clock, log }),
    clock,
    log,
  });
}

async function present(
  dependencies: OperatorOverviewDependencies,
  { board, judge }: { readonly board: StatusCache; readonly judge: ObjectEvaluator },
  counts: Overview["counts"],
): Promise<Overview> {
  const {
    cluster,
    replica,
    observing: writes,
    clock,
    metrics,
    controllers,
    controllerNames,
    providerSnapshots,
  } = dependencies;
  const shown = controllersOverview(controllerNames, controllers());
  const providers = providerSnapshots();
  const rows = providers.flatMap(({ name }) => board.row(`provider/${name}`)?.row ?? []);
  const circuitBreakers = judge.circuitBreakers();
  return overviewOf({
    nowMs: clock.nowMs(),
    cluster,
    replica: replica(),
    observing: writes,
    counts,
    controllers: shown,
    providers,
    totals: await totalsOf(metrics),
    circuitBreakers,
    alarms: alarmsOf({ providers: rows, circuitBreakers, controllers: shown }),
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

/** What was counted since the start, of the metrics that count it anyhow. */
export async function totalsOf(metrics: Metrics): Promise<Totals> {
  const [{ calls, failedCalls }, reconciles] = await Promise.all([
    callsByProvider(metrics),
    reconcilesByController(metrics),
  ]);
  return { calls, failedCalls, reconciles };
}

export interface AlarmFacts {
  /** Rows of providers. */
  readonly providers: readonly ObjectRow[];
  readonly circuitBreakers: ReadonlyMap<string, DeletionCircuitBreaker>;
  readonly controllers: readonly ControllerOverview[];
}

/** What an operator should see first, whatever else there is: what somebody must do something about before what passes. */
export function alarmsOf({ providers, circuitBreakers, controllers }: AlarmFacts): readonly Alarm[] {
  const braked = [...circuitBreakers].flatMap(([provider, { open, message }]): readonly Alarm[] =>
    open ? [{ ...cause("TooManyNodeDeletions", message), object: `provider/${provider}` }] : [],
  );
  const away = providers
    // Its own line, which names the Nodes.
    .filter(({ state, reason }) => state !== "ok" && reason !== "TooManyNodeDeletions")
    .toSorted((left, right) => rank(left) - rank(right))
    .map((row): Alarm => ({ ...cause(reasonOf(row), row.summary), object: row.object }));
  const broken = controllers
    .filter(({ state }) => state === "restarting")
    .map(({ name, restartTime, lastPanic }) => {
      const when = restartTime === undefined ? "" : `; a fresh one starts at ${restartTime}`;
      const what = lastPanic === undefined ? "" : `: ${lastPanic.message}`;
      return cause("ControllerRestarting", `${name} broke by a fault of this program${what}${when}.`);
    });
  return [...braked, ...away, ...broken];
}

function rank({ state }: ObjectRow): number {
  return state === "blocked" ? 0 : 1;
}

function reasonOf({ reason }: ObjectRow): Reason {
  return reason !== undefined && isReason(reason) ? reason : "SyncFailed";
}

function isReason(reason: string): reason is Reason {
  return Object.hasOwn(REASONS, reason);
}
