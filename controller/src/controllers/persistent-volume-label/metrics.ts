import type { Counter } from "prom-client";
import type { Metrics } from "../../telemetry/metrics.ts";

/** How a PersistentVolume fared. */
export type LabellingOutcome =
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

export type LabellingMode = "webhook" | "controller";

/** Ours: upstream counts nothing of the kind. */
export interface LabellingMetrics {
  readonly outcomes: Counter<"mode" | "outcome">;
}

export function labellingMetrics(metrics: Metrics): LabellingMetrics {
  return {
    outcomes: metrics.counter({
      name: "cloudwire_persistent_volume_labellings_total",
      help: "PersistentVolumes looked at for labels and node affinity, by mode (webhook, controller) and outcome.",
      labels: ["mode", "outcome"],
    }),
  };
}
