import type { Metrics } from "../../telemetry/metrics.ts";

export type InformerMetrics = ReturnType<ReturnType<typeof informerMetrics>>;

/** Creates the metric families; the result is called once per kind. */
export function informerMetrics(metrics: Metrics) {
  const lists = metrics.counter({
    name: "cloudwire_informer_lists_total",
    help: "Complete lists, by kind of object and by method: streamed in a watch, or in pages.",
    labels: ["kind", "method"],
  });
  const watches = metrics.counter({
    name: "cloudwire_informer_watches_total",
    help: "Watches that the API server accepted, by kind.",
    labels: ["kind"],
  });
  const failures = metrics.counter({
    name: "cloudwire_informer_failures_total",
    help: "Lists and watches that failed, by kind and error code.",
    labels: ["kind", "code"],
  });
  const handlerFailures = metrics.counter({
    name: "cloudwire_informer_handler_failures_total",
    help: "Panics of event handlers.",
    labels: ["kind"],
  });
  const objects = metrics.gauge({
    name: "cloudwire_informer_objects",
    help: "Objects in the cache, by kind.",
    labels: ["kind"],
  });
  return (kind: string) => ({
    listed: (method: "stream" | "pages"): void => lists.inc({ kind, method }),
    watched: (): void => watches.inc({ kind }),
    failed: (code: string): void => failures.inc({ kind, code }),
    handlerFailed: (): void => handlerFailures.inc({ kind }),
    objects: (count: number): void => objects.set({ kind }, count),
  });
}
