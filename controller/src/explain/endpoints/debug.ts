import type { PlansPage } from "@cloudwire/operator-api";
import { type Effect, type Plans, effectOf, summaryOf } from "../../observe/plans.ts";
import type { BudgetSnapshot } from "../../provider/model/call-rate.ts";
import type { ProviderInfo } from "../../provider/model/info.ts";
import type { ProviderStatus } from "../../provider/model/status.ts";
import type { ProviderSnapshot } from "../../provider/sidecar.ts";
import type { ControllerSnapshot } from "../../runtime/controller.ts";
import type { ErrorRecord, ReconcileRecord } from "../../runtime/history.ts";
import type { ControllerState, SupervisedController } from "../../runtime/supervised-controller.ts";
import { messageOf } from "../../util/errors.ts";
import { iso } from "../../util/text.ts";
import type { SubqueueSnapshot, SomeKeys } from "../../workqueue/queue.ts";

/** Keys of each kind on the page of one controller. */
const KEYS = 100;

/** What both pages say of a controller. */
interface Head {
  readonly name: string;
  /** idle: another replica leads; off: the options leave nothing for it to do; disabled: `--controllers` does not name it. */
  readonly state: ControllerState["kind"] | "disabled";
  readonly runningSince?: string;
  readonly restartingAt?: string;
  /** In a row. */
  readonly faults?: number;
  /** However long ago. */
  readonly lastFault?: { readonly at: string; readonly message: string };
  readonly workers?: number;
  /** Keys in line and in work. */
  readonly lanes?: readonly SubqueueSnapshot[];
}

/** One controller in the list: enough to see which one to look at. Numbers of keys. */
export interface ControllerOverview extends Head {
  readonly working?: number;
  readonly delayed?: number;
  /** Whose last reconcile failed. */
  readonly failing?: number;
}

/** The same in full. */
export interface ControllerDetails extends Head {
  readonly working?: SomeKeys<{ readonly forMs: number }>;
  readonly delayed?: SomeKeys<{ readonly dueAt: string; readonly inMs: number; readonly failures: number }>;
  /** Latest first. */
  readonly failing?: { readonly count: number; readonly first: readonly ShownReconcile[] };
  /** Newest first. */
  readonly recent?: readonly ShownReconcile[];
}

interface ShownReconcile {
  readonly key: string;
  readonly outcome: string;
  readonly end: string;
  readonly durationMs: number;
  readonly reconcileId: string;
  readonly error?: Pick<ErrorRecord, "code" | "message">;
}

/** Every controller of the program, for `/debug/controllers`. */
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
      ...head(name, controller),
      ...common(snapshot),
      working: queue.working.count,
      delayed: queue.delayed.count,
      failing: failing.count,
    };
  });
}

/** One controller, for `/debug/controllers/<name>`; `nowMs` is wall clock. */
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
    ...head(name, controller),
    ...common(snapshot),
    working: { ...working, first: working.first.map(({ key, forMs }) => ({ key, forMs: Math.round(forMs) })) },
    delayed: {
      ...delayed,
      first: delayed.first.map(({ key, inMs, failures }) => ({
        key,
        dueAt: iso(nowMs + inMs),
        inMs: Math.round(inMs),
        failures,
      })),
    },
    failing: { ...snapshot.failing, first: snapshot.failing.first.map((record) => shown(record)) },
    recent: snapshot.recent.map((record) => shown(record)),
  };
}

function head(name: string, controller: SupervisedController | undefined): Head {
  if (controller === undefined) return { name, state: "disabled" };
  const { state, faults, lastFault } = controller;
  return {
    name,
    state: state.kind,
    ...(state.kind === "running" ? { runningSince: iso(state.sinceMs) } : {}),
    ...(state.kind === "restarting" ? { restartingAt: iso(state.atMs) } : {}),
    ...(lastFault === undefined
      ? {}
      : { faults, lastFault: { at: iso(lastFault.atMs), message: messageOf(lastFault.error) } }),
  };
}

function common({ workers, queue }: ControllerSnapshot): Pick<Head, "workers" | "lanes"> {
  return { workers, lanes: queue.subqueues };
}

function shown({ key, outcome, endMs, durationMs, reconcileId, error }: ReconcileRecord): ShownReconcile {
  const base = { key, outcome, end: iso(endMs), durationMs: Math.round(durationMs), reconcileId };
  return error === undefined ? base : { ...base, error: { code: error.code, message: error.message } };
}

/** Every provider, for `/debug/providers`; `nowMs` is wall clock. What is not known is left out. */
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
      recentHandshakes: snapshot.handshakes.map(({ atMs, ...record }) => ({ at: iso(atMs), ...record })),
      status: status && shownStatus(status),
      scopeDoubt: scopeChange,
      untrustedReason: untrustedReason,
      calls,
      budgets: snapshot.budgets.map((budget) => shownBudget(budget, nowMs)),
    };
  });
}

function handshake({
  name,
  version,
  bootId,
  contractMinor,
  scopeId,
  providerIdPrefixes,
  limits,
}: ProviderInfo): object {
  return { name, version, bootId, contract: `1.${contractMinor}`, scope: scopeId, providerIdPrefixes, limits };
}

function shownStatus(status: ProviderStatus): object {
  const { ready, configRevision, conditions, rateLimits } = status;
  return {
    at: iso(status.receivedAtMs),
    ready,
    configRevision,
    conditions: conditions.map(({ lastTransitionTimeMs, ...condition }) => ({
      ...condition,
      lastTransition: isoIfAny(lastTransitionTimeMs),
    })),
    lastCloudSuccess: isoIfAny(status.lastCloudSuccessTimeMs),
    credentialsExpire: isoIfAny(status.credentialsExpireTimeMs),
    rateLimits: rateLimits.map(({ resetTimeMs, ...rate }) => ({ ...rate, reset: isoIfAny(resetTimeMs) })),
  };
}

function shownBudget({ heldMs, tokens, cloudCallsPerSecond, ...budget }: BudgetSnapshot, nowMs: number): object {
  return {
    ...budget,
    cloudCallsPerSecond: hundredths(cloudCallsPerSecond),
    tokens: hundredths(tokens),
    heldUntil: heldMs === 0 ? undefined : iso(nowMs + heldMs),
  };
}

function hundredths(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value * 100) / 100;
}

function isoIfAny(atMs: number | undefined): string | undefined {
  return atMs === undefined ? undefined : iso(atMs);
}

/** What would be written of what is observed, for `/debug/plans`. */
export function debugPlans(plans: Plans | undefined, controllers: readonly SupervisedController[]): PlansPage {
  const all = plans?.all ?? [];
  const undecided = plans?.undecided ?? [];
  const effects = all.flatMap(({ writes }) => writes.map(effectOf));
  const count = (wanted: Effect): number => effects.filter((effect) => effect === wanted).length;
  return {
    observes: plans !== undefined,
    settled: undecided.length === 0 && controllers.length > 0 && controllers.every(isIdle),
    pending: { addition: count("addition"), change: count("change"), removal: count("removal") },
    undecided,
    plans: all.map(({ controller, key, provider, digest, sinceMs, writes }) => ({
      controller,
      key,
      provider,
      digest,
      since: iso(sinceMs),
      writes: writes.map((write) => ({ ...write, effect: effectOf(write), summary: summaryOf(write) })),
    })),
  };
}

function isIdle({ state, current }: SupervisedController): boolean {
  if (state.kind === "off") return true;
  const queue = current?.snapshot(0).queue;
  return queue !== undefined && queue.working.count === 0 && queue.subqueues.every(({ high, low }) => high + low === 0);
}
