import type {
  Alarm,
  DeletionCircuitBreaker,
  CallBudgetStatus,
  ControllerSummary,
  ObjectRow,
  Overview,
  ProviderSummary,
} from "@cloudwire/operator-api";
import type { BudgetSnapshot } from "../../provider/model/call-rate.ts";
import { callsByProvider } from "../../provider/observers/metrics.ts";
import type { ProviderSnapshot } from "../../provider/sidecar.ts";
import { reconcilesByController } from "../../runtime/metrics.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Clock } from "../../util/clock.ts";
import { iso } from "../../util/text.ts";
import { type ControllerOverview, controllersOverview } from "../endpoints/debug.ts";
import { OverviewEndpoints } from "../endpoints/overview.ts";
import { ObjectEvaluator, type ObjectEvaluatorDependencies } from "../evaluate/object-evaluator.ts";
import { REASONS, type Reason, cause } from "../reasons/reasons.ts";
import { Samples, type Totals } from "./samples.ts";
import { StatusCache } from "./status-cache.ts";
import { ClusterObjects, type ClusterObjectsDependencies } from "./status-objects.ts";

export interface OverviewFacts extends Pick<Overview, "cluster" | "replica" | "observing" | "counts" | "alarms"> {
  /** Wall clock. */
  readonly nowMs: number;
  readonly controllers: readonly ControllerOverview[];
  readonly providers: readonly ProviderSnapshot[];
  readonly totals: Totals;
  /** By provider; absent: no absent instances. */
  readonly circuitBreakers: ReadonlyMap<string, DeletionCircuitBreaker>;
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

/** Quota classes that share a budget have one entry. */
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

export interface OperatorOverviewDependencies
  extends Omit<ObjectEvaluatorDependencies, "nodes">,
    Omit<ClusterObjectsDependencies, "evaluator" | "providerSnapshots"> {
  readonly cluster: string;
  /** Some part of the controller is in observe mode. */
  readonly observing: boolean;
  /** All canonical names. */
  readonly controllerNames: Iterable<string>;
  readonly metrics: Metrics;
  readonly log: Logger;
}

const SNAPSHOT_MS = 250;

/** The status cache with its endpoints. Costs nothing without readers. */
export function operatorOverview(dependencies: OperatorOverviewDependencies): OverviewEndpoints {
  const { clock, metrics, log } = dependencies;
  const providerSnapshots = reused(dependencies.providerSnapshots, clock);
  const evaluator = new ObjectEvaluator({ ...dependencies, providerSnapshots });
  const cache = new StatusCache({
    objects: new ClusterObjects({ ...dependencies, providerSnapshots, evaluator }),
    overview: (counts) => currentOverview(dependencies, { cache, evaluator }, counts),
    clock,
    log,
  });
  return new OverviewEndpoints(cache, new Samples({ totals: () => totalsOf(metrics), clock, log }), dependencies);
}

async function currentOverview(
  dependencies: OperatorOverviewDependencies,
  { cache, evaluator }: { readonly cache: StatusCache; readonly evaluator: ObjectEvaluator },
  counts: Overview["counts"],
): Promise<Overview> {
  const { clock, metrics } = dependencies;
  const controllers = controllersOverview(dependencies.controllerNames, dependencies.controllers());
  const providers = dependencies.providerSnapshots();
  const circuitBreakers = evaluator.circuitBreakers();
  const rows = providers.flatMap(({ name }) => cache.row(`provider/${name}`)?.row ?? []);
  return overviewOf({
    ...dependencies,
    nowMs: clock.nowMs(),
    replica: dependencies.replica(),
    counts,
    controllers,
    providers,
    totals: await totalsOf(metrics),
    circuitBreakers,
    alarms: alarmsOf({ providers: rows, circuitBreakers, controllers }),
  });
}

/** Reuses a value for a short time: each of thousands of rows made together reads it. */
function reused<T>(read: () => T, clock: Clock): () => T {
  let last: { readonly value: T; readonly atMs: number } | undefined;
  return () => {
    const atMs = clock.monotonicMs();
    if (last === undefined || atMs - last.atMs >= SNAPSHOT_MS) last = { value: read(), atMs };
    return last.value;
  };
}

/** Counts since the start of the process, from the metrics. */
export async function totalsOf(metrics: Metrics): Promise<Totals> {
  const [calls, reconciles] = await Promise.all([callsByProvider(metrics), reconcilesByController(metrics)]);
  return { ...calls, reconciles };
}

export interface AlarmFacts {
  /** Rows of providers. */
  readonly providers: readonly ObjectRow[];
  readonly circuitBreakers: ReadonlyMap<string, DeletionCircuitBreaker>;
  readonly controllers: readonly ControllerOverview[];
}

/** Most important first: problems that need manual intervention before temporary ones. */
export function alarmsOf({ providers, circuitBreakers, controllers }: AlarmFacts): readonly Alarm[] {
  const breakers = [...circuitBreakers].flatMap(([provider, { open, message }]): readonly Alarm[] =>
    open ? [{ ...cause("TooManyNodeDeletions", message), object: `provider/${provider}` }] : [],
  );
  const unavailable = providers
    // It has its own alarm, which names the Nodes.
    .filter(({ state, reason }) => state !== "ok" && reason !== "TooManyNodeDeletions")
    .toSorted((left, right) => rank(left) - rank(right))
    .map((row): Alarm => ({ ...cause(reasonOf(row), row.summary), object: row.object }));
  const restarting = controllers
    .filter(({ state }) => state === "restarting")
    .map(({ name, restartTime, lastPanic }) => {
      const detail = lastPanic === undefined ? "" : `: ${lastPanic.message}`;
      const when = restartTime === undefined ? "" : `; it restarts at ${restartTime}`;
      return cause("ControllerRestarting", `${name} failed with an internal error${detail}${when}.`);
    });
  return [...breakers, ...unavailable, ...restarting];
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
