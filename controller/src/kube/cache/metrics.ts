import type { Metrics } from "../../telemetry/metrics.ts";

/** What one informer reports. */
export interface InformerMetrics {
  listed(method: "stream" | "pages"): void;
  watched(): void;
  failed(code: string): void;
  handlerFailed(): void;
  objects(count: number): void;
}

/** Makes the metric families; call the result once a kind. */
export function informerMetrics(metrics: Metrics): (kind: string) => InformerMetrics {
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
  return (kind) => ({
    listed: (method) => lists.inc({ kind, method }),
    watched: () => watches.inc({ kind }),
    failed: (code) => failures.inc({ kind, code }),
    handlerFailed: () => handlerFailures.inc({ kind }),
    objects: (count) => objects.set({ kind }, count),
  });
}
