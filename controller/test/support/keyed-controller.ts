import { Controller } from "../../src/runtime/controller.ts";
import { type ControllerMetrics, faultCounter } from "../../src/runtime/metrics.ts";
import type { Result } from "../../src/runtime/reconciler.ts";
import { SupervisedController } from "../../src/runtime/supervised-controller.ts";
import { Metrics } from "../../src/telemetry/metrics.ts";
import { NO_TRACING } from "../../src/telemetry/tracing.ts";
import type { Clock } from "../../src/util/clock.ts";
import { NO_QUEUE_METRICS } from "../../src/workqueue/metrics.ts";
import { createWorkqueue } from "../../src/workqueue/rate-limited-queue.ts";
import { exponentialLimiter, SERVICE_BACKOFF } from "../../src/workqueue/rate-limiter.ts";
import { FakeLog } from "./fake-log.ts";

export interface KeyedController {
  readonly name: string;
  /** What there is to do. */
  readonly keys: readonly string[];
  readonly reconcile: (key: string) => Promise<Result>;
  readonly clock: Clock;
  readonly ended?: ControllerMetrics["ended"];
}

/** A controller of fixed keys, not begun. */
export function keyedController({ name, keys, reconcile, clock, ended }: KeyedController): SupervisedController {
  const build = (): Controller => {
    const limiter = exponentialLimiter(SERVICE_BACKOFF);
    const queue = createWorkqueue({ clock, limiter, metrics: NO_QUEUE_METRICS });
    const start = () => {
      for (const key of keys) queue.add(key);
      return () => undefined;
    };
    return new Controller({
      name,
      reconciler: { reconcile: ({ key }) => reconcile(key) },
      sources: [{ name: "keys", ready: () => Promise.resolve(), start }],
      queue,
      workers: 4,
      clock,
      log: new FakeLog(),
      metrics: { running: () => undefined, reconciled: () => undefined, ...(ended && { ended }) },
      tracing: NO_TRACING,
      newId: () => "id-1",
    });
  };
  const faults = faultCounter(new Metrics());
  return new SupervisedController({ name, build, clock, random: () => 0, log: new FakeLog(), faults });
}
