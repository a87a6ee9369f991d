import { Controller } from "../../src/runtime/controller.ts";
import { type ControllerMetrics, panicCounter } from "../../src/runtime/metrics.ts";
import type { Result } from "../../src/runtime/reconciler.ts";
import { SupervisedController } from "../../src/runtime/supervised-controller.ts";
import { Metrics } from "../../src/telemetry/metrics.ts";
import type { Clock } from "../../src/util/clock.ts";
import { SERVICE_BACKOFF } from "../../src/workqueue/rate-limited-queue.ts";
import { controllerEnvironment } from "./controller-context.ts";
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
    const environment = controllerEnvironment({
      name,
      clock,
      newId: () => "id-1",
      ...(ended && { controllerMetrics: { ended } }),
    });
    return new Controller(environment, {
      reconciler: { reconcile: ({ key }) => reconcile(key) },
      sources: [
        {
          name: "keys",
          ready: () => Promise.resolve(),
          start: (queue) => {
            for (const key of keys) queue.add(key);
            return () => undefined;
          },
        },
      ],
      workers: 4,
      backoff: SERVICE_BACKOFF,
    });
  };
  const panics = panicCounter(new Metrics());
  return new SupervisedController({ name, build, clock, random: () => 0, log: new FakeLog(), panics });
}
