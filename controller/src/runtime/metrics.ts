import type { Counter } from "prom-client";
import { CLOUD_CONTROLLER_MANAGER } from "../api/controller-names.ts";
import type { PlannedWrite } from "../observe/planned-write.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { ReconcileRecord } from "./history.ts";
import type { Outcome } from "./result.ts";

/** What one controller reports. */
export interface ControllerMetrics {
  running(isRunning: boolean): void;
  reconciled(outcome: Outcome["kind"], seconds: number): void;
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
    help: "Reconciles by controller and how they ended. panicked is a fault of this program.",
    labels: ["controller", "outcome"],
  });
  const seconds = metrics.histogram({
    name: "cloudwire_reconcile_duration_seconds",
    help: "Time of one reconcile, by controller.",
    labels: ["controller"],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
  });
  return (controller, shortName) => ({
    running: (isRunning) => running.set({ name: shortName, manager: CLOUD_CONTROLLER_MANAGER }, isRunning ? 1 : 0),
    reconciled: (outcome, duration) => {
      reconciles.inc({ controller, outcome });
      seconds.observe({ controller }, duration);
    },
  });
}

/** Counts controllers that broke as a whole, by canonical name. */
export function faultCounter(metrics: Metrics): Counter<"controller"> {
  return metrics.counter({
    name: "cloudwire_controller_faults_total",
    help: "Times a controller broke as a whole by a fault of this program, and was started anew. Worth an alert.",
    labels: ["controller"],
  });
}
