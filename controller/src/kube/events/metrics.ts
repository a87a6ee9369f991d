import type { Metrics } from "../../telemetry/metrics.ts";

/** Why an event was not written. */
export type DropReason = "full" | "spam" | "refused" | "shutdown" | "observed";

/** What happened to events. */
export interface EventMetrics {
  /** So many more, or fewer, wait to be written, the one that is being written among them. */
  waits(difference: number): void;
  sent(): void;
  dropped(why: DropReason): void;
}

export function eventMetrics(metrics: Metrics): EventMetrics {
  const sent = metrics.counter({ name: "cloudwire_events_sent_total", help: "Kubernetes Events written." });
  const dropped = metrics.counter({
    name: "cloudwire_events_dropped_total",
    help: "Kubernetes Events not written: buffer full, too many about one object (spam), refused by the server, shutdown, or what it is about is only observed (--mode).",
    labels: ["why"],
  });
  const waiting = metrics.gauge({
    name: "cloudwire_events_waiting",
    help: "Kubernetes Events that wait to be written, Warnings before Normal ones.",
  });
  return {
    waits: (difference) => waiting.inc(difference),
    sent: () => sent.inc(),
    dropped: (why) => dropped.inc({ why }),
  };
}
