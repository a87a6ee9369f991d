import type { Counter } from "prom-client";
import { CLOUD_CONTROLLER_MANAGER } from "../api/controller-names.ts";
import type { PlannedWrite } from "../observe/plans.ts";
import { type ObjectVersion, PlannedOnlyError, type Work } from "../observe/work.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { SpanStart, Tracing } from "../telemetry/tracing.ts";
import type { ReconcileRecord } from "./history.ts";
import type { Outcome, ReconcileContext } from "./reconciler.ts";

/** What one controller reports. */
export interface ControllerMetrics {
  running(isRunning: boolean): void;
  reconciled(result: Outcome["kind"], seconds: number): void;
  /** Where what happens to objects is remembered: a reconcile, and the last one of its key before it. */
  ended?(record: ReconcileRecord, before: ReconcileRecord | undefined): void;
  /** Where plans are reported: what a reconcile would have written; undefined: it failed, and that is not known. */
  planned?(key: string, provider: string, writes: readonly PlannedWrite[] | undefined): void;
}

/** Makes the families once; call the result once a controller, with its canonical name and upstream's short one. */
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

/** Does one reconcile as a trace of its own: a key comes up for many reasons at once, so it is below none of them. */
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

/** One that is put off or cut short was as it should be. */
function isFailure(
  outcome: Outcome,
): outcome is Extract<Outcome, { readonly kind: "error" | "terminal_error" | "panic" }> {
  return outcome.kind === "error" || outcome.kind === "terminal_error" || outcome.kind === "panic";
}

export interface PlannedWorkDependencies
  extends Pick<Work, "controller" | "key" | "provider" | "reconcileID" | "version"> {
  /** Aborts the signal of the reconcile. */
  readonly stop: (reason: unknown) => void;
}

/** One reconcile, and what it would have written. */
export class PlannedWork implements Work {
  readonly controller: string;
  readonly key: string;
  readonly provider: string;
  readonly reconcileID: string;
  readonly version: ObjectVersion | undefined;
  readonly #stop: (reason: unknown) => void;
  readonly #writes: PlannedWrite[] = [];
  #isStopped = false;

  constructor({ controller, key, provider, reconcileID, version, stop }: PlannedWorkDependencies) {
    this.controller = controller;
    this.key = key;
    this.provider = provider;
    this.reconcileID = reconcileID;
    this.version = version;
    this.#stop = stop;
  }

  note(write: PlannedWrite): void {
    this.#writes.push(write);
  }

  stop(): never {
    const error = new PlannedOnlyError();
    this.#isStopped = true;
    this.#stop(error);
    throw error;
  }

  /** What the reconcile came to, given how it ended. */
  outcome(ended: Outcome): Outcome {
    const isWell = ended.kind === "success" || ended.kind === "requeue_after";
    return this.#isStopped || (isWell && this.#writes.length > 0) ? { kind: "planned" } : ended;
  }

  /** undefined: not known. */
  writesAt({ kind }: Outcome): readonly PlannedWrite[] | undefined {
    return kind === "planned" || kind === "success" || kind === "requeue_after" ? this.#writes : undefined;
  }
}

/** Reconciles by controller since the start. */
export function reconcilesByController(metrics: Metrics): Promise<Readonly<Record<string, number>>> {
  return metrics.sums("cloudwire_reconciles_total", "controller");
}
