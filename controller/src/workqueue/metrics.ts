import { exponentialBuckets, type Metrics } from "../telemetry/metrics.ts";

export interface QueueMetrics {
  depth(keys: number): void;
  added(): void;
  started(waitedMs: number): void;
  finished(workedMs: number): void;
  retried(): void;
  /** Called at each scrape: how long each key has been processed, in milliseconds. */
  watchWork(runningMs: () => readonly number[]): void;
}

export const NO_QUEUE_METRICS: QueueMetrics = {
  depth: () => undefined,
  added: () => undefined,
  started: () => undefined,
  finished: () => undefined,
  retried: () => undefined,
  watchWork: () => undefined,
};

const DURATIONS = exponentialBuckets(1e-8, 10, 10);

/** Creates the families once. Call the result for each queue. Names and buckets: component-base/metrics/prometheus/workqueue v0.36.3. */
export function workqueueMetrics(metrics: Metrics): (name: string) => QueueMetrics {
  const families = makeFamilies(metrics);
  const work = new Map<string, () => readonly number[]>();
  makeRunningGauges(metrics, work);
  return (name) => ({
    depth: (keys) => families.depth.set({ name }, keys),
    added: () => families.adds.inc({ name }),
    started: (waitedMs) => families.waited.observe({ name }, waitedMs / 1000),
    finished: (workedMs) => families.worked.observe({ name }, workedMs / 1000),
    retried: () => families.retries.inc({ name }),
    watchWork: (runningMs) => void work.set(name, runningMs),
  });
}

function makeFamilies(metrics: Metrics) {
  const labels = ["name"] as const;
  return {
    depth: metrics.gauge({ name: "workqueue_depth", help: "Current depth of workqueue", labels }),
    adds: metrics.counter({ name: "workqueue_adds_total", help: "Total number of adds handled by workqueue", labels }),
    waited: metrics.histogram({
      name: "workqueue_queue_duration_seconds",
      help: "How long in seconds an item stays in workqueue before being requested.",
      labels,
      buckets: DURATIONS,
    }),
    worked: metrics.histogram({
      name: "workqueue_work_duration_seconds",
      help: "How long in seconds processing an item from workqueue takes.",
      labels,
      buckets: DURATIONS,
    }),
    retries: metrics.counter({
      name: "workqueue_retries_total",
      help: "Total number of retries handled by workqueue",
      labels,
    }),
  };
}

function makeRunningGauges(metrics: Metrics, work: ReadonlyMap<string, () => readonly number[]>): void {
  metrics.gauge({
    name: "workqueue_unfinished_work_seconds",
    help: "How many seconds of work is in progress and hasn't been observed by work_duration. Large values indicate stuck workers.",
    labels: ["name"],
    collect: (gauge) => {
      for (const [name, runningMs] of work) {
        gauge.set({ name }, runningMs().reduce((sum, ms) => sum + ms, 0) / 1000);
      }
    },
  });
  metrics.gauge({
    name: "workqueue_longest_running_processor_seconds",
    help: "How many seconds has the longest running processor for workqueue been running.",
    labels: ["name"],
    collect: (gauge) => {
      for (const [name, runningMs] of work) gauge.set({ name }, Math.max(0, ...runningMs()) / 1000);
    },
  });
}
