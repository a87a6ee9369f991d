import type {
  Alarm,
  BrakeStanding,
  BudgetStanding,
  ControllerSummary,
  Overview,
  ProviderSummary,
  Replica,
} from "@cloudwire/operator-api";
import type { BudgetSnapshot } from "../../provider/model/call-rate.ts";
import type { ProviderSnapshot } from "../../provider/provider-snapshot.ts";
import type { ControllerOverview } from "../endpoints/debug.ts";
import { iso } from "../../util/iso-time.ts";
import type { Totals } from "./samples.ts";

/** All that an overview is made of. */
export interface OverviewFacts {
  /** Wall clock. */
  readonly nowMs: number;
  readonly cluster: string;
  readonly replica: Replica;
  readonly writes: boolean;
  readonly counts: Overview["counts"];
  readonly controllers: readonly ControllerOverview[];
  readonly providers: readonly ProviderSnapshot[];
  readonly totals: Totals;
  /** By provider; absent: nothing is held. */
  readonly brakes: ReadonlyMap<string, BrakeStanding>;
  /** Most serious first. */
  readonly alarms: readonly Alarm[];
}

export function overviewOf(facts: OverviewFacts): Overview {
  const { nowMs, cluster, replica, writes, counts, controllers, providers, alarms } = facts;
  return {
    at: iso(nowMs),
    cluster,
    replica,
    writes,
    counts,
    controllers: controllers.map(controllerSummary),
    providers: providers.map((snapshot) => providerSummary(snapshot, facts)),
    alarms,
  };
}

function controllerSummary({
  name,
  state,
  lanes = [],
  working = 0,
  delayed = 0,
  failing = 0,
}: ControllerOverview): ControllerSummary {
  const waiting = lanes.reduce((sum, { high, low }) => sum + high + low, 0);
  return { name, state, waiting, working, delayed, failing };
}

function providerSummary(
  snapshot: ProviderSnapshot,
  { totals, brakes, nowMs, replica }: OverviewFacts,
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
    budgets: budgets.map((budget) => budgetStanding(budget, nowMs)),
    ...(replica.leads ? { brake: brakes.get(name) ?? { holds: false, gone: 0 } } : {}),
  };
}

/** One for each budget: classes that share it have one level. */
function budgetStanding(
  { classes, cloudCallsPerSecond, tokens, waiting, heldMs }: BudgetSnapshot,
  nowMs: number,
): BudgetStanding {
  return {
    quotaClass: classes.join(", "),
    ...(cloudCallsPerSecond === undefined ? {} : { callsPerSecond: hundredths(cloudCallsPerSecond) }),
    ...(tokens === undefined ? {} : { tokens: hundredths(tokens) }),
    waiting: Object.values(waiting).reduce((sum, count) => sum + count, 0),
    ...(heldMs === 0 ? {} : { heldUntil: iso(nowMs + heldMs) }),
  };
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
