import type { Counter } from "prom-client";
import type { Metrics } from "../../telemetry/metrics.ts";

/** "mismatch": the PersistentVolume conflicts with the cloud; "unknown": the lookup failed; "invalid": it cannot be labeled. */
export type LabelingResult = "labeled" | "unchanged" | "not_owned" | "absent" | "mismatch" | "unknown" | "invalid";

/** Upstream has no such metrics. */
export type ResultCounter = Counter<"result">;

export function admissionCounter(metrics: Metrics): ResultCounter {
  return metrics.counter({
    name: "cloudwire_persistent_volume_admissions_total",
    help: "PersistentVolumes that the webhook evaluated during admission, by result.",
    labels: ["result"],
  });
}

export function labelingCounter(metrics: Metrics): ResultCounter {
  return metrics.counter({
    name: "cloudwire_persistent_volume_labelings_total",
    help: "PersistentVolumes that the controller evaluated, by result.",
    labels: ["result"],
  });
}
