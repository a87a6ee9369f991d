import type { Counter } from "prom-client";
import type { Metrics } from "../../telemetry/metrics.ts";

/** How a PersistentVolume fared. */
export type LabelingOutcome =
  /** Got what was missing. */
  | "labelled"
  /** Has all that the cloud says. */
  | "unchanged"
  /** No volume of a provider. */
  | "foreign"
  /** The cloud knows no such volume. */
  | "absent"
  /** Says otherwise than the cloud. */
  | "mismatch"
  /** The cloud could not be asked, or did not know. */
  | "unknown"
  /** Cannot be labelled as it is. */
  | "invalid";

/** Ours: upstream counts nothing of the kind. */
export type OutcomeCounter = Counter<"outcome">;

/** What the webhook counts. */
export function admissionCounter(metrics: Metrics): OutcomeCounter {
  return metrics.counter({
    name: "cloudwire_persistent_volume_admissions_total",
    help: "PersistentVolumes that the webhook has looked at while they were admitted, by outcome.",
    labels: ["outcome"],
  });
}

/** What the controller counts. */
export function labelingCounter(metrics: Metrics): OutcomeCounter {
  return metrics.counter({
    name: "cloudwire_persistent_volume_labelings_total",
    help: "PersistentVolumes that the controller has looked up at the cloud, by outcome.",
    labels: ["outcome"],
  });
}
