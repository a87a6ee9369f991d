import type { Metrics } from "../../telemetry/metrics.ts";

/** Why an event was not written. */
export type DropReason = "full" | "rate_limited" | "rejected" | "shutdown" | "observed";

/** What happened to events. */
export interface EventMetrics {
  /** So many more, or fewer, wait to be written, the one that is being written among them. */
  waits(difference: number): void;
  sent(): void;
  dropped(reason: DropReason): void;
}

export function eventMetrics(metrics: Metrics): EventMetrics {
  const sent = metrics.counter({ name: "cloudwire_events_sent_total", help: "Kubernetes Events written." });
  const dropped = metrics.counter({
    name: "cloudwire_events_dropped_total",
    help: "Kubernetes Events that were not written, by reason.",
    labels: ["reason"],
  });
  const waiting = metrics.gauge({
    name: "cloudwire_events_waiting",
    help: "Queued Kubernetes Events. Warning events are sent first.",
  });
  return {
    waits: (difference) => waiting.inc(difference),
    sent: () => sent.inc(),
    dropped: (reason) => dropped.inc({ reason }),
  };
}
