import type { Metrics } from "../../telemetry/metrics.ts";

/** Why an event was not written. */
export type DropReason = "full" | "rate_limited" | "rejected" | "namespace_terminating" | "shutdown" | "observed";

export type EventMetrics = ReturnType<typeof eventMetrics>;

export function eventMetrics(metrics: Metrics) {
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
    /** `difference` to the number of events that are queued or being written. */
    waits: (difference: number): void => waiting.inc(difference),
    sent: (): void => sent.inc(),
    dropped: (reason: DropReason): void => dropped.inc({ reason }),
  };
}
