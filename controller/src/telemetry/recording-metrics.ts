import type { Metrics } from "./metrics.ts";

/** What becomes of lines of a recording. */
export type RecordingFate = "written" | "lost" | "full";

export interface RecordingMetrics {
  count(fate: RecordingFate, lines: number): void;
  /** A write failed; lines wait and are tried again. */
  failed(): void;
}

export function recordingMetrics(metrics: Metrics): RecordingMetrics {
  const lines = metrics.counter({
    name: "cloudwire_recording_lines_total",
    help: "Lines of the recording of --record-provider, by what became of them: written; lost, too many waited for a file that could not be written; full, the file has its size.",
    labels: ["result"],
  });
  const failures = metrics.counter({
    name: "cloudwire_recording_failures_total",
    help: "Tries to write the recording of --record-provider that failed. What could not be written is tried again.",
  });
  return { count: (fate, number) => lines.inc({ result: fate }, number), failed: () => failures.inc() };
}
