import { describe, expect, test } from "vitest";
import { controllerEnvironment } from "../../test/support/controller-context.ts";
import { FakeClock, settle } from "../../test/support/fake-clock.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { SERVICE_BACKOFF } from "../workqueue/rate-limited-queue.ts";
import { Controller } from "./controller.ts";
import { controllerMetrics, panicCounter } from "./metrics.ts";
import { DONE } from "./reconciler.ts";
import { SupervisedController } from "./supervised-controller.ts";

const NAME = "node-route-controller";

interface Rig extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly log: FakeLog;
  readonly metrics: Metrics;
  readonly supervised: SupervisedController;
  readonly stop: AbortController;
  /** Times of the builds since the start. */
  readonly buildsMs: number[];
  readonly ended: Promise<void>;
}

/** `source` is asked at each start: what it throws or rejects with is the fault of that life. */
function supervise(source: (life: number, clock: FakeClock) => Promise<void> | undefined): Rig {
  const clock = new FakeClock();
  const log = new FakeLog();
  const metrics = new Metrics();
  const metricsOf = controllerMetrics(metrics)(NAME, "route");
  const buildsMs: number[] = [];
  const build = (): Controller => {
    buildsMs.push(clock.monotonicMs());
    const life = buildsMs.length;
    return new Controller(controllerEnvironment({ name: NAME, clock, log, controllerMetrics: metricsOf }), {
      reconciler: { reconcile: () => Promise.resolve(DONE) },
      sources: [
        {
          name: "faulty",
          start: () => () => undefined,
          ready: (signal) => {
            const fault = source(life, clock);
            if (fault !== undefined) return fault;
            return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
          },
        },
      ],
      workers: 1,
      backoff: SERVICE_BACKOFF,
    });
  };
  const supervised = new SupervisedController({
    name: NAME,
    build,
    clock,
    random: () => 0,
    log,
    panics: panicCounter(metrics),
  });
  const stop = new AbortController();
  const ended = supervised.run({ stop: stop.signal, abort: new AbortController().signal });
  return {
    clock,
    log,
    metrics,
    supervised,
    stop,
    buildsMs,
    ended,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await ended;
    },
  };
}

const broken = (): Promise<void> => Promise.reject(new Error("no such thing"));

describe("SupervisedController.run()", () => {
  test("starts a fresh controller after a wait that doubles, up to five minutes", async () => {
    await using rig = supervise(broken);
    await rig.clock.advance(1_500_000);
    const waits = rig.buildsMs.slice(1).map((atMs, index) => atMs - (rig.buildsMs[index] ?? 0));
    expect(waits.slice(0, 11).map((ms) => ms / 1000)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  });

  test("reports each fault with its error, counts it, and says when the next start is", async () => {
    await using rig = supervise((life) => (life <= 2 ? broken() : undefined));
    await rig.clock.advance(1000);
    expect(rig.supervised.state).toEqual({
      kind: "restarting",
      atMs: rig.clock.nowMs() + 2000,
      error: new Error("no such thing"),
    });
    expect(rig.supervised.panics).toBe(2);
    expect(await rig.metrics.value("cloudwire_controller_panics_total", { controller: NAME })).toBe(2);
    expect(rig.log.lines.filter(({ level }) => level === "error").map(({ fields }) => fields)).toEqual([
      { controller: NAME, panics: 1, delayMs: 1000, err: new Error("no such thing") },
      { controller: NAME, panics: 2, delayMs: 2000, err: new Error("no such thing") },
    ]);
    await rig.clock.advance(2000);
    expect(rig.supervised.state).toEqual({ kind: "running", sinceMs: rig.clock.nowMs() });
    expect(rig.supervised.current).toBeDefined();
  });

  test("takes a fault after a calm time for a first one", async () => {
    await using rig = supervise((life, clock) => {
      if (life <= 3) return broken();
      if (life > 4) return undefined;
      return new Promise((_, reject) => clock.schedule(600_000, () => reject(new Error("after a calm time"))));
    });
    await rig.clock.advance(7000 + 600_000);
    expect(rig.supervised.panics).toBe(1);
    await rig.clock.advance(1000);
    expect(rig.buildsMs.at(-1)).toBe(7000 + 600_000 + 1000);
  });

  test("takes a controller that cannot even be built for a broken one", async () => {
    const panics: Error[] = [];
    const clock = new FakeClock();
    const stop = new AbortController();
    const supervised = new SupervisedController({
      name: NAME,
      build: () => {
        panics.push(new TypeError("x is undefined"));
        throw panics.at(-1) ?? new Error("none");
      },
      clock,
      random: () => 0,
      log: new FakeLog(),
      panics: panicCounter(new Metrics()),
    });
    const ended = supervised.run({ stop: stop.signal, abort: stop.signal });
    await clock.advance(3000);
    expect(panics).toHaveLength(3);
    stop.abort();
    await ended;
    expect(supervised.state).toEqual({ kind: "idle" });
    expect(clock.timers).toBe(0);
  });

  test("ends at once while it waits for the next start", async () => {
    await using rig = supervise(broken);
    await settle();
    rig.stop.abort();
    await rig.ended;
    expect(rig.buildsMs).toHaveLength(1);
    expect(rig.clock.timers).toBe(0);
  });

  test("is off, and ends, when the options leave nothing to do", async () => {
    const supervised = new SupervisedController({
      name: NAME,
      build: () => undefined,
      clock: new FakeClock(),
      random: () => 0,
      log: new FakeLog(),
      panics: panicCounter(new Metrics()),
    });
    const { signal } = new AbortController();
    await supervised.run({ stop: signal, abort: signal });
    expect(supervised.state).toEqual({ kind: "off" });
  });
});
