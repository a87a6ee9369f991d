import type { Counter } from "prom-client";
import { CLOUD_CONTROLLER_MANAGER } from "../api/controller-names.ts";
import type { PlannedWrite } from "../observe/plans.ts";
import { PlannedOnlyError, type Work } from "../observe/work.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { SpanStart, Tracing } from "../telemetry/tracing.ts";
import type { ReconcileRecord } from "./history.ts";
import type { Outcome, ReconcileContext } from "./reconciler.ts";

export interface ControllerMetrics {
  running(isRunning: boolean): void;
  reconciled(result: Outcome["kind"], seconds: number): void;
  /** Called after each reconcile, with the previous one of its key. */
  ended?(record: ReconcileRecord, before: ReconcileRecord | undefined): void;
  planned?(key: string, provider: string, writes: readonly PlannedWrite[] | undefined): void;
}

/** Creates the families once. Call the result for each controller, with its canonical name and upstream's short one. */
export function controllerMetrics(metrics: Metrics): (name: string, shortName: string) => ControllerMetrics {
  const running = metrics.gauge({
    name: "running_managed_controllers",
    help: "Indicates where instances of a controller are currently running",
    labels: ["name", "manager"],
  });
  const reconciles = metrics.counter({
    name: "cloudwire_reconciles_total",
    help: "Reconciles by controller and result. panic is an internal error of the controller.",
    labels: ["controller", "result"],
  });
  const seconds = metrics.histogram({
    name: "cloudwire_reconcile_duration_seconds",
    help: "Duration of a reconcile in seconds, by controller.",
    labels: ["controller"],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
  });
  return (controller, shortName) => ({
    running: (isRunning) => running.set({ name: shortName, manager: CLOUD_CONTROLLER_MANAGER }, isRunning ? 1 : 0),
    reconciled: (result, duration) => {
      reconciles.inc({ controller, result });
      seconds.observe({ controller }, duration);
    },
  });
}

/** Counts panics outside a reconcile, by canonical name of the controller. */
export function panicCounter(metrics: Metrics): Counter<"controller"> {
  return metrics.counter({
    name: "cloudwire_controller_panics_total",
    help: "Times a controller panicked outside a reconcile and was restarted.",
    labels: ["controller"],
  });
}

/** One trace for each reconcile: a key may be enqueued for several reasons, so that there is no parent span. */
export function inReconcileSpan(
  tracing: Tracing,
  controller: string,
  { key, reconcileID, priority, failures }: ReconcileContext,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const start = (): SpanStart => ({
    name: `reconcile ${controller}`,
    kind: "internal",
    attributes: {
      "cloudwire.controller": controller,
      "cloudwire.key": key,
      // The same as in the log.
      "cloudwire.reconcile_id": reconcileID,
      "cloudwire.priority": priority,
      "cloudwire.failures": failures,
    },
  });
  return tracing.root(start, async (span) => {
    const outcome = await work();
    span.set({ "cloudwire.result": outcome.kind });
    if (isFailure(outcome)) span.fail(outcome.error);
    return outcome;
  });
}

/** A postponed or canceled reconcile is not an error. */
function isFailure(
  outcome: Outcome,
): outcome is Extract<Outcome, { readonly kind: "error" | "terminal_error" | "panic" }> {
  return outcome.kind === "error" || outcome.kind === "terminal_error" || outcome.kind === "panic";
}

export interface PlannedWorkDependencies extends Omit<Work, "note" | "stop"> {
  /** Aborts the signal of the reconcile. */
  readonly stop: (reason: unknown) => void;
}

/** One reconcile and its planned writes. */
export function plannedWork({ stop, ...work }: PlannedWorkDependencies) {
  const writes: PlannedWrite[] = [];
  let isStopped = false;
  return {
    ...work,
    note: (write: PlannedWrite): void => void writes.push(write),
    stop: (): never => {
      const error = new PlannedOnlyError();
      isStopped = true;
      stop(error);
      throw error;
    },
    outcome: (ended: Outcome): Outcome => {
      const isSuccess = ended.kind === "success" || ended.kind === "requeue_after";
      return isStopped || (isSuccess && writes.length > 0) ? { kind: "planned" } : ended;
    },
    /** undefined: not known. */
    writesAt: ({ kind }: Outcome): readonly PlannedWrite[] | undefined =>
      kind === "planned" || kind === "success" || kind === "requeue_after" ? writes : undefined,
  } satisfies Work & Readonly<Record<string, unknown>>;
}

export function reconcilesByController(metrics: Metrics): Promise<Readonly<Record<string, number>>> {
  return metrics.sums("cloudwire_reconciles_total", "controller");
}
