import type { Metrics } from "./metrics.ts";

/** What becomes of finished spans. */
export type SpanFate = "exported" | "failed" | "dropped";

export interface TraceMetrics {
  count(fate: SpanFate, spans: number): void;
}

export function traceMetrics(metrics: Metrics): TraceMetrics {
  const spans = metrics.counter({
    name: "cloudwire_trace_spans_total",
    help: "Finished spans of traces, by what became of them: exported; failed, the collector did not take them; dropped, the queue was full.",
    labels: ["result"],
  });
  return { count: (fate, number) => spans.inc({ result: fate }, number) };
}
