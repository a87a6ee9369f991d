import type { ErrorRecord, ReconcileRecord } from "../../runtime/history.ts";
import type { ControllerSnapshot } from "../../runtime/controller.ts";
import type { ControllerState, SupervisedController } from "../../runtime/supervised-controller.ts";
import { messageOf } from "../../util/errors.ts";
import type { LaneSnapshot, SomeKeys } from "../../workqueue/queue.ts";
import { iso } from "../../util/iso-time.ts";

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
  readonly lanes?: readonly LaneSnapshot[];
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
  return { workers, lanes: queue.lanes };
}

function shown({ key, outcome, endMs, durationMs, reconcileId, error }: ReconcileRecord): ShownReconcile {
  const base = { key, outcome, end: iso(endMs), durationMs: Math.round(durationMs), reconcileId };
  return error === undefined ? base : { ...base, error: { code: error.code, message: error.message } };
}
