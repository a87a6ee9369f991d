import type { Counter } from "prom-client";
import type { Metrics } from "../../telemetry/metrics.ts";

/** How a PersistentVolume fared. */
export type LabelingResult =
  /** Got what was missing. */
  | "labeled"
  /** Has all that the cloud says. */
  | "unchanged"
  /** No volume of a provider. */
  | "not_owned"
  /** The cloud knows no such volume. */
  | "absent"
  /** Says otherwise than the cloud. */
  | "mismatch"
  /** The cloud could not be asked, or did not know. */
  | "unknown"
  /** Cannot be labeled as it is. */
  | "invalid";

/** Ours: upstream counts nothing of the kind. */
export type ResultCounter = Counter<"result">;

/** What the webhook counts. */
export function admissionCounter(metrics: Metrics): ResultCounter {
  return metrics.counter({
    name: "cloudwire_persistent_volume_admissions_total",
    help: "PersistentVolumes that the webhook evaluated during admission, by result.",
    labels: ["result"],
  });
}

/** What the controller counts. */
export function labelingCounter(metrics: Metrics): ResultCounter {
  return metrics.counter({
    name: "cloudwire_persistent_volume_labelings_total",
    help: "PersistentVolumes that the controller evaluated, by result.",
    labels: ["result"],
  });
}
