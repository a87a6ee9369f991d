import type { Metrics } from "../../telemetry/metrics.ts";

/** What one informer reports. */
export interface InformerMetrics {
  listed(how: "stream" | "pages"): void;
  watched(): void;
  failed(code: string): void;
  handlerFailed(): void;
  objects(count: number): void;
}

/** Makes the metric families; call the result once a kind. */
export function informerMetrics(metrics: Metrics): (kind: string) => InformerMetrics {
  const lists = metrics.counter({
    name: "cloudwire_informer_lists_total",
    help: "Complete lists, by kind and by how they came: streamed in a watch or in pages.",
    labels: ["kind", "how"],
  });
  const watches = metrics.counter({
    name: "cloudwire_informer_watches_total",
    help: "Watches the API server accepted, by kind.",
    labels: ["kind"],
  });
  const failures = metrics.counter({
    name: "cloudwire_informer_failures_total",
    help: "Lists and watches that failed, by kind and error code.",
    labels: ["kind", "code"],
  });
  const handlerFailures = metrics.counter({
    name: "cloudwire_informer_handler_failures_total",
    help: "Event handlers that threw: a fault of this program.",
    labels: ["kind"],
  });
  const objects = metrics.gauge({
    name: "cloudwire_informer_objects",
    help: "Objects in the cache, by kind.",
    labels: ["kind"],
  });
  return (kind) => ({
    listed: (how) => lists.inc({ kind, how }),
    watched: () => watches.inc({ kind }),
    failed: (code) => failures.inc({ kind, code }),
    handlerFailed: () => handlerFailures.inc({ kind }),
    objects: (count) => objects.set({ kind }, count),
  });
}
