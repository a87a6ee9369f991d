import type { PlanReport, ReconcileResult } from "@cloudwire/operator-api";
import { type WriteAction, type Plans, actionOf, summaryOf } from "../../observe/plans.ts";
import type { BudgetSnapshot } from "../../provider/model/call-rate.ts";
import type { ProviderInfo } from "../../provider/model/info.ts";
import type { ProviderStatus } from "../../provider/model/status.ts";
import type { ProviderSnapshot } from "../../provider/sidecar.ts";
import type { ControllerSnapshot } from "../../runtime/controller.ts";
import type { ReconcileRecord } from "../../runtime/history.ts";
import type { ControllerState, SupervisedController } from "../../runtime/supervised-controller.ts";
import { messageOf } from "../../util/errors.ts";
import { reconcileResult } from "../controller-status.ts";
import { iso } from "../../util/text.ts";
import type { SomeKeys } from "../../workqueue/queue.ts";

/** Most keys of each kind. */
const KEYS = 100;

interface QueueSummary {
  /** Provider, or "" for keys without one. */
  readonly name: string;
  /** Queued keys by priority. */
  readonly high: number;
  readonly low: number;
  readonly processing: number;
}

interface Head {
  readonly name: string;
  /** idle: another replica is the leader; notConfigured: its options are not set; disabled: by `--controllers`. */
  readonly state: Exclude<ControllerState["kind"], "off"> | "notConfigured" | "disabled";
  readonly startTime?: string;
  readonly restartTime?: string;
  /** Consecutive. */
  readonly panics?: number;
  readonly lastPanic?: { readonly time: string; readonly message: string };
  readonly workers?: number;
  /** One for each provider. */
  readonly queues?: readonly QueueSummary[];
}

/** Numbers of keys. */
export interface ControllerOverview extends Head {
  readonly processing?: number;
  readonly delayed?: number;
  readonly failing?: number;
}

export interface ControllerDetails extends Head {
  readonly processing?: SomeKeys<{ readonly processingMs: number }>;
  readonly delayed?: SomeKeys<{ readonly dueTime: string; readonly inMs: number; readonly failures: number }>;
  /** Latest first. */
  readonly failing?: { readonly count: number; readonly first: readonly ShownReconcile[] };
  /** Newest first. */
  readonly recent?: readonly ShownReconcile[];
}

interface ShownReconcile extends ReconcileResult {
  readonly key: string;
}

/** For `/debug/controllers`. */
export function controllersOverview(
  names: Iterable<string>,
  controllers: readonly SupervisedController[],
): readonly ControllerOverview[] {
  return [...names].map((name) => {
    const controller = controllers.find((candidate) => candidate.name === name);
    const snapshot = controller?.current?.snapshot(0);
    if (snapshot === undefined) return head(name, controller);
    const { queue, failing } = snapshot;
    return {
      ...head(name, controller, snapshot),
      processing: queue.working.count,
      delayed: queue.delayed.count,
      failing: failing.count,
    };
  });
}

/** For `/debug/controllers/<name>`. */
export function controllerDetails(
  name: string,
  controllers: readonly SupervisedController[],
  nowMs: number,
): ControllerDetails {
  const controller = controllers.find((candidate) => candidate.name === name);
  const snapshot = controller?.current?.snapshot(KEYS);
  if (snapshot === undefined) return head(name, controller);
  const { working, delayed } = snapshot.queue;
  return {
    ...head(name, controller, snapshot),
    processing: {
      ...working,
      first: working.first.map(({ key, forMs }) => ({ key, processingMs: Math.round(forMs) })),
    },
    delayed: {
      ...delayed,
      first: delayed.first.map(({ key, inMs, failures }) => ({
        key,
        dueTime: iso(nowMs + inMs),
        inMs: Math.round(inMs),
        failures,
      })),
    },
    failing: { ...snapshot.failing, first: snapshot.failing.first.map((record) => shown(record)) },
    recent: snapshot.recent.map((record) => shown(record)),
  };
}

function head(name: string, controller: SupervisedController | undefined, snapshot?: ControllerSnapshot): Head {
  if (controller === undefined) return { name, state: "disabled" };
  const { state, panics, lastPanic } = controller;
  return {
    name,
    state: state.kind === "off" ? "notConfigured" : state.kind,
    ...(state.kind === "running" ? { startTime: iso(state.sinceMs) } : {}),
    ...(state.kind === "restarting" ? { restartTime: iso(state.atMs) } : {}),
    ...(lastPanic === undefined
      ? {}
      : { panics, lastPanic: { time: iso(lastPanic.atMs), message: messageOf(lastPanic.error) } }),
    ...(snapshot && {
      workers: snapshot.workers,
      queues: snapshot.queue.subqueues.map(({ working, ...queued }) => ({ ...queued, processing: working })),
    }),
  };
}

function shown(record: ReconcileRecord): ShownReconcile {
  return { key: record.key, ...reconcileResult(record) };
}

/** For `/debug/providers`. */
export function debugProviders(snapshots: readonly ProviderSnapshot[], nowMs: number): readonly object[] {
  return snapshots.map((snapshot) => {
    const { name, address, connection, health, warnings, info, status, scopeChange, untrustedReason, calls } = snapshot;
    return {
      name,
      address,
      connection,
      ready: health.ready,
      reasons: health.reasons,
      warnings,
      handshake: info && handshake(info),
      recentHandshakes: snapshot.handshakes.map(({ atMs, ...record }) => ({ time: iso(atMs), ...record })),
      status: status && shownStatus(status),
      scopeChange,
      absenceIgnored: untrustedReason,
      calls: { inFlight: calls.inFlight, queued: calls.waiting, limit: calls.limit },
      budgets: snapshot.budgets.map((budget) => shownBudget(budget, nowMs)),
    };
  });
}

function handshake({ contractMinor, scopeId, ...info }: ProviderInfo): object {
  const { name, version, bootId, providerIdPrefixes, limits } = info;
  return { name, version, bootId, contract: `1.${contractMinor}`, scope: scopeId, providerIdPrefixes, limits };
}

function shownStatus(status: ProviderStatus): object {
  const { ready, configRevision, conditions, rateLimits } = status;
  return {
    time: iso(status.receivedAtMs),
    ready,
    configRevision,
    conditions: conditions.map(({ lastTransitionTimeMs, ...condition }) => ({
      ...condition,
      lastTransitionTime: isoIfAny(lastTransitionTimeMs),
    })),
    lastCloudSuccessTime: isoIfAny(status.lastCloudSuccessTimeMs),
    credentialsExpirationTime: isoIfAny(status.credentialsExpireTimeMs),
    rateLimits: rateLimits.map(({ resetTimeMs, ...rate }) => ({ ...rate, resetTime: isoIfAny(resetTimeMs) })),
  };
}

function shownBudget(budget: BudgetSnapshot, nowMs: number): object {
  const { classes, cloudCallsPerSecond, burst, tokens, heldMs, waiting } = budget;
  return {
    quotaClasses: classes,
    burst,
    queued: waiting,
    cloudCallsPerSecond: hundredths(cloudCallsPerSecond),
    tokens: hundredths(tokens),
    throttledUntilTime: heldMs === 0 ? undefined : iso(nowMs + heldMs),
  };
}

function hundredths(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value * 100) / 100;
}

function isoIfAny(atMs: number | undefined): string | undefined {
  return atMs === undefined ? undefined : iso(atMs);
}

/** For `/debug/plans`. */
export function debugPlans(plans: Plans | undefined, controllers: readonly SupervisedController[]): PlanReport {
  const all = plans?.all ?? [];
  const failedKeys = plans?.failedKeys ?? [];
  const actions = all.flatMap(({ writes }) => writes.map(actionOf));
  const count = (action: WriteAction): number => actions.filter((one) => one === action).length;
  return {
    observing: plans !== undefined,
    complete: failedKeys.length === 0 && controllers.length > 0 && controllers.every(isIdle),
    pending: { create: count("create"), update: count("update"), delete: count("delete") },
    failedKeys,
    plans: all.map(({ controller, key, provider, digest, sinceMs, writes }) => ({
      controller,
      key,
      provider,
      digest,
      startTime: iso(sinceMs),
      writes: writes.map((write) => ({ ...write, action: actionOf(write), summary: summaryOf(write) })),
    })),
  };
}

function isIdle({ state, current }: SupervisedController): boolean {
  if (state.kind === "off") return true;
  const queue = current?.snapshot(0).queue;
  return queue !== undefined && queue.working.count === 0 && queue.subqueues.every(({ high, low }) => high + low === 0);
}
