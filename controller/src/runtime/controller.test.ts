import { describe, expect, test } from "vitest";
import { controllerEnvironment } from "../../test/support/controller-context.ts";
import { FakeClock, settle } from "../../test/support/fake-clock.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { ProviderError } from "../provider/model/errors.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { aborted } from "../util/abort.ts";
import { RetryAfterError, TerminalError } from "../util/errors.ts";
import { SERVICE_BACKOFF } from "../workqueue/rate-limited-queue.ts";
import { Controller } from "./controller.ts";
import { controllerMetrics } from "./metrics.ts";
import { DONE, type ReconcileContext, type Result, requeueAfter, stepReconciler } from "./reconciler.ts";
import type { Source } from "./source.ts";

interface Rig extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly log: FakeLog;
  readonly metrics: Metrics;
  readonly controller: Controller;
  readonly stop: AbortController;
  readonly abort: AbortController;
  /** Keys with the time of each reconcile, relative to the start. */
  readonly reconciles: { key: string; atMs: number }[];
  readonly ended: Promise<void>;
}

function startController(
  reconcile: (context: ReconcileContext, turn: number) => Promise<Result>,
  sources: readonly Source[] = [],
  workers = 1,
): Rig {
  const clock = new FakeClock();
  const log = new FakeLog();
  const metrics = new Metrics();
  const reconciles: { key: string; atMs: number }[] = [];
  const environment = controllerEnvironment({
    name: "service-lb-controller",
    clock,
    log,
    newId: () => "id",
    controllerMetrics: controllerMetrics(metrics)("service-lb-controller", "service"),
  });
  const controller = new Controller(environment, {
    reconciler: {
      reconcile: (context) => {
        reconciles.push({ key: context.key, atMs: clock.monotonicMs() });
        return reconcile(context, reconciles.length);
      },
    },
    sources,
    workers,
    backoff: SERVICE_BACKOFF,
  });
  const stop = new AbortController();
  const abort = new AbortController();
  const ended = controller.run({ stop: stop.signal, abort: abort.signal });
  return {
    clock,
    log,
    metrics,
    controller,
    stop,
    abort,
    reconciles,
    ended,
    [Symbol.asyncDispose]: async () => {
      abort.abort();
      stop.abort();
      await ended;
    },
  };
}

describe("Controller turns the end of a reconcile into a queue action", () => {
  const outcome = async (rig: Rig, kind: string): Promise<number | undefined> =>
    rig.metrics.value("cloudwire_reconciles_total", { controller: "service-lb-controller", result: kind });

  test("done: forgets the failures and rests", async () => {
    await using rig = startController((_, turn) =>
      turn === 1 ? Promise.reject(new Error("cloud busy")) : Promise.resolve(DONE),
    );
    rig.controller.queue.add("k");
    await rig.clock.advance(1_000_000);
    expect(rig.reconciles).toEqual([
      { key: "k", atMs: 0 },
      { key: "k", atMs: 5000 },
    ]);
    expect(rig.controller.queue.failures("k")).toBe(0);
    expect(await outcome(rig, "success")).toBe(1);
    expect(await outcome(rig, "error")).toBe(1);
  });

  test("requeueAfter: comes back after exactly that, as low priority, without a failure", async () => {
    await using rig = startController(() => Promise.resolve(requeueAfter(60_000)));
    rig.controller.queue.add("k");
    await rig.clock.advance(120_000);
    expect(rig.reconciles.map(({ atMs }) => atMs)).toEqual([0, 60_000, 120_000]);
    expect(rig.controller.queue.failures("k")).toBe(0);
  });

  test("a thrown error: backs off as upstream's service controller", async () => {
    await using rig = startController(() => Promise.reject(new Error("no")));
    rig.controller.queue.add("k");
    await rig.clock.advance(40_000);
    expect(rig.reconciles.map(({ atMs }) => atMs)).toEqual([0, 5000, 15_000, 35_000]);
    expect(rig.log.messages("warn")).toHaveLength(4);
  });

  test("an error with retryAfterMs, however deep: waits exactly that and leaves the failure count alone", async () => {
    const held = new Error("ensure failed", { cause: new RetryAfterError("throttled", 7000) });
    await using rig = startController(() => Promise.reject(held));
    rig.controller.queue.add("k");
    await rig.clock.advance(21_000);
    expect(rig.reconciles.map(({ atMs }) => atMs)).toEqual([0, 7000, 14_000, 21_000]);
    expect(rig.controller.queue.failures("k")).toBe(0);
    expect(await outcome(rig, "retry_after")).toBe(4);
  });

  test.each([0, -5000, 1, Number.NaN])(
    "an error whose provider named a delay of %d ms: backs off as any other (case A-3)",
    async (retryAfterMs) => {
      const cause = new ProviderError({ code: "UNAVAILABLE", message: "no", retryAfterMs });
      await using rig = startController(() => Promise.reject(new Error("ensure failed", { cause })));
      rig.controller.queue.add("k");
      await rig.clock.advance(40_000);
      expect(rig.reconciles.map(({ atMs }) => atMs)).toEqual([0, 5000, 15_000, 35_000]);
    },
  );

  test("an error whose provider named a longer delay: waits as long (case A-3)", async () => {
    const cause = new ProviderError({ code: "UNAVAILABLE", message: "no", retryAfterMs: 12_000 });
    await using rig = startController(() => Promise.reject(new Error("ensure failed", { cause })));
    rig.controller.queue.add("k");
    await rig.clock.advance(60_000);
    expect(rig.reconciles.map(({ atMs }) => atMs)).toEqual([0, 12_000, 24_000, 44_000]);
  });

  test.each([
    ["failed", {}],
    ["put off", { retryAfterMs: 5000 }],
  ])("an error that is reported elsewhere: is a debug line of its key when it %s", async (_name, fields) => {
    const cause = new ProviderError({
      code: "UNAVAILABLE",
      message: "not connected",
      isReportedElsewhere: true,
      ...fields,
    });
    await using rig = startController(() => Promise.reject(new Error("initialize node k", { cause })));
    rig.controller.queue.add("k");
    await rig.clock.advance(1000);
    expect(rig.log.lines.map(({ level, message }) => [level, message])).toEqual([
      ["info", "Controller started"],
      ["debug", "Reconcile is waiting"],
    ]);
  });

  test("a TerminalError: is logged and counted, and not tried again until something changes", async () => {
    await using rig = startController(() => Promise.reject(new TerminalError("quota is 0")));
    rig.controller.queue.add("k");
    await rig.clock.advance(10_000_000);
    expect(rig.reconciles).toHaveLength(1);
    rig.controller.queue.add("k");
    await settle();
    expect(rig.reconciles).toHaveLength(2);
    expect(await outcome(rig, "terminal_error")).toBe(2);
    expect(rig.log.messages("error")).toHaveLength(2);
  });

  test("a panic, thrown before the first await: is counted apart and the worker lives on", async () => {
    await using rig = startController((_, turn) => {
      if (turn === 1) throw new TypeError("x is undefined");
      return Promise.resolve(DONE);
    });
    rig.controller.queue.add("k");
    rig.controller.queue.add("other");
    await rig.clock.advance(5000);
    expect(rig.reconciles.map(({ key }) => key)).toEqual(["k", "other", "k"]);
    expect(await outcome(rig, "panic")).toBe(1);
  });
});

describe("Controller.run()", () => {
  test("waits for its sources before the first reconcile", async () => {
    const ready = Promise.withResolvers<void>();
    const source: Source = {
      name: "nodes",
      ready: () => ready.promise,
      start: (queue) => {
        queue.add("n1");
        return () => undefined;
      },
    };
    await using rig = startController(() => Promise.resolve(DONE), [source]);
    await settle();
    expect(rig.reconciles).toEqual([]);
    ready.resolve();
    await settle();
    expect(rig.reconciles.map(({ key }) => key)).toEqual(["n1"]);
    expect(await rig.metrics.value("running_managed_controllers", { name: "service" })).toBe(1);
  });

  test("lets the reconcile in work finish on stop, starts no other, and takes its sources off", async () => {
    const work = Promise.withResolvers<Result>();
    let ended = 0;
    const source: Source = { name: "s", ready: () => Promise.resolve(), start: () => () => void ended++ };
    await using rig = startController(() => work.promise, [source]);
    rig.controller.queue.add("a");
    rig.controller.queue.add("b");
    await settle();
    rig.stop.abort();
    await settle();
    expect(ended).toBe(0);
    work.resolve(DONE);
    await rig.ended;
    expect(ended).toBe(1);
    expect(rig.reconciles.map(({ key }) => key)).toEqual(["a"]);
    expect(await rig.metrics.value("running_managed_controllers", { name: "service" })).toBe(0);
  });

  test("hands the abort signal to reconciles and does not retry what it cut short", async () => {
    await using rig = startController(
      ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("cut")))),
    );
    rig.controller.queue.add("a");
    await settle();
    rig.stop.abort();
    rig.abort.abort();
    await rig.ended;
    expect(await rig.metrics.value("cloudwire_reconciles_total", { result: "aborted" })).toBe(1);
    expect(rig.clock.timers).toBe(0);
  });

  test("works on as many keys at once as it has workers, never on one key twice", async () => {
    let running = 0;
    let most = 0;
    await using rig = startController(
      async () => {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => rig.clock.schedule(10, resolve));
        running--;
        return DONE;
      },
      [],
      3,
    );
    for (const key of ["a", "b", "c", "d", "e"]) rig.controller.queue.add(key);
    await settle();
    rig.controller.queue.add("a");
    await rig.clock.advance(100);
    expect(most).toBe(3);
    expect(rig.reconciles.map(({ key }) => key)).toEqual(["a", "b", "c", "d", "e", "a"]);
  });

  test("gives each reconcile a signal of its own: listeners of thousands on one would be a list to walk each time", async () => {
    const signals: AbortSignal[] = [];
    await using rig = startController(
      async ({ signal }) => {
        signals.push(signal);
        await aborted(signal);
        return DONE;
      },
      [],
      3,
    );
    for (const key of ["a", "b", "c"]) rig.controller.queue.add(key);
    await settle();
    rig.abort.abort("the end");
    expect(signals.map(({ reason }) => reason)).toEqual(["the end", "the end", "the end"]);
    expect(new Set(signals).size).toBe(3);
  });
});

describe("a Controller that breaks", () => {
  const fault = new TypeError("x is undefined");

  /** Two keys in work with two workers; `quick` is to get in line again, and the subqueue of a key is asked only once. */
  function breakInWork(duringWork: (stop: AbortController) => void) {
    const clock = new FakeClock();
    const ended: string[] = [];
    const asked = new Set<string>();
    const of = (key: string): string => {
      if (asked.has(key)) throw fault;
      asked.add(key);
      return "";
    };
    const stop = new AbortController();
    const slow = Promise.withResolvers<void>();
    let ends = 0;
    const controller: Controller = new Controller(controllerEnvironment({ clock }), {
      reconciler: {
        reconcile: async ({ key, signal }) => {
          signal.addEventListener("abort", () => slow.resolve());
          if (key === "slow") await slow.promise;
          else {
            controller.queue.add(key);
            duringWork(stop);
          }
          await settle();
          ended.push(key);
          return DONE;
        },
      },
      sources: [{ name: "s", ready: () => Promise.resolve(), start: () => () => void ends++ }],
      workers: 2,
      subqueues: { of, count: 1 },
      backoff: SERVICE_BACKOFF,
    });
    controller.queue.add("slow");
    controller.queue.add("quick");
    const running = controller.run({ stop: stop.signal, abort: new AbortController().signal });
    const outcome = running.then(
      () => "ended",
      (error: unknown) => error,
    );
    return { outcome, slow, ended, ends: () => ends };
  }

  test("cuts the reconciles in work short, and rejects only when every one has ended", async () => {
    const { outcome, ended, ends } = breakInWork(() => undefined);
    expect(await outcome).toBe(fault);
    expect([ended, ends()]).toEqual([["quick", "slow"], 1]);
  });

  test("lets the reconciles in work finish, and reports its fault, when it breaks at the end", async () => {
    const { outcome, slow, ended, ends } = breakInWork((stop) => stop.abort());
    await settle();
    await settle();
    expect([ended, ends()]).toEqual([["quick"], 0]);
    slow.resolve();
    expect(await outcome).toBe(fault);
    expect([ended, ends()]).toEqual([["quick", "slow"], 1]);
  });

  test("takes off the sources that had begun when another cannot begin", async () => {
    let ends = 0;
    const good: Source = { name: "good", ready: () => Promise.resolve(), start: () => () => void ends++ };
    const bad: Source = {
      name: "bad",
      ready: () => Promise.resolve(),
      start: () => {
        throw new TypeError("x is undefined");
      },
    };
    const rig = startController(() => Promise.resolve(DONE), [good, bad]);
    await expect(rig.ended).rejects.toThrow("x is undefined");
    expect(ends).toBe(1);
  });
});

describe("stepReconciler()", () => {
  const context: ReconcileContext = {
    key: "k",
    priority: "high",
    signal: new AbortController().signal,
    log: new FakeLog(),
    reconcileID: "id",
    failures: 0,
  };

  test("hands gather's input and the time to plan, and the plan to apply", async () => {
    const clock = new FakeClock(1000);
    const reconciler = stepReconciler<number, string>(
      {
        gather: () => Promise.resolve(7),
        plan: (input, nowMs) => `${input}@${nowMs}`,
        apply: (plan) => Promise.resolve(requeueAfter(plan === "7@1000" ? 1 : 2)),
      },
      clock,
    );
    expect(await reconciler.reconcile(context)).toEqual({ kind: "requeue_after", delayMs: 1 });
  });

  test("is done when there is nothing to gather", async () => {
    const reconciler = stepReconciler<number, string>(
      {
        gather: () => Promise.resolve(undefined),
        plan: () => "x",
        apply: () => Promise.reject(new Error("not reached")),
      },
      new FakeClock(),
    );
    expect(await reconciler.reconcile(context)).toEqual(DONE);
  });
});
