import type { KubeObject } from "../api/meta.ts";
import type { Lister } from "../kube/cache/lister.ts";
import { doWork } from "../observe/work.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import { type OwnedSignal, type SignalFan, childSignal, signalFan } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import { isReportedElsewhere } from "../util/errors.ts";
import type { Priority } from "../util/semaphore.ts";
import type { QueueMetrics } from "../workqueue/metrics.ts";
import type { QueueSnapshot, WorkItem, Workqueue } from "../workqueue/queue.ts";
import { type ExponentialOptions, createWorkqueue, exponentialLimiter } from "../workqueue/rate-limited-queue.ts";
import { ReconcileHistory, type ReconcileRecord } from "./history.ts";
import { type ControllerMetrics, plannedWork, inReconcileSpan } from "./metrics.ts";
import { classify, type Outcome, type ReconcileContext, type Reconciler } from "./reconciler.ts";
import type { Source } from "./source.ts";

export interface ControllerEnvironment {
  /** Canonical name, from api/controller-names.ts. */
  readonly name: string;
  readonly program: {
    readonly clock: Clock;
    readonly log: Logger;
    /** Each reconcile is a trace. */
    readonly tracing: Tracing;
    /** A random UUID, in production. */
    readonly newId: () => string;
  };
  readonly metrics: { readonly queue: QueueMetrics; readonly controller: ControllerMetrics };
}

export interface ControllerOptions {
  readonly reconciler: Reconciler;
  readonly sources: readonly Source[];
  readonly workers: number;
  /** Parts of the queue that do not block each other. @default one */
  readonly subqueues?: { readonly of: (key: string) => string; readonly count: number };
  readonly backoff: ExponentialOptions;
  /** The objects that keys name, to record the version that each change was made from. @default none */
  readonly objects?: Pick<Lister<KubeObject>, "get">;
}

export interface RunSignals {
  /** No new reconciles start; running ones may finish. */
  readonly stop: AbortSignal;
  /** Running reconciles are canceled: leadership is lost, or the grace period is over. */
  readonly abort: AbortSignal;
}

export interface ControllerSnapshot {
  readonly workers: number;
  readonly queue: QueueSnapshot;
  readonly recent: readonly ReconcileRecord[];
  /** Keys whose last reconcile failed, latest first. */
  readonly failing: { readonly count: number; readonly first: readonly ReconcileRecord[] };
}

/** Sources, a queue, workers and one reconciler. */
export class Controller {
  readonly #environment: ControllerEnvironment;
  readonly #options: ControllerOptions;
  readonly #workers: number;
  readonly queue: Workqueue;
  readonly #history = new ReconcileHistory();

  constructor(environment: ControllerEnvironment, options: ControllerOptions) {
    const { workers, subqueues, backoff } = options;
    this.#environment = environment;
    this.#options = options;
    this.#workers = workers * (subqueues?.count ?? 1);
    this.queue = createWorkqueue({
      clock: environment.program.clock,
      limiter: exponentialLimiter(backoff),
      metrics: environment.metrics.queue,
      ...(subqueues && { subqueues: { of: subqueues.of, limit: workers } }),
    });
  }

  get name(): string {
    return this.#environment.name;
  }

  snapshot(limit: number): ControllerSnapshot {
    const failing = this.#history.failing();
    return {
      workers: this.#workers,
      queue: this.queue.snapshot(limit),
      recent: this.#history.recent().slice(0, limit),
      failing: { count: failing.length, first: failing.slice(0, limit) },
    };
  }

  last(key: string): ReconcileRecord | undefined {
    return this.#history.last(key);
  }

  /**
   * Waits for the sources' caches, then runs until `stop` aborts and the last reconcile has ended. Runs once. Rejects with a panic only after the
   * running reconciles have ended, so that a restarted controller never has a key in two of them.
   */
  async run(signals: RunSignals): Promise<void> {
    const { sources } = this.#options;
    const { name, program, metrics } = this.#environment;
    const { log } = program;
    using stop = childSignal(signals.stop);
    using abort = childSignal(signals.abort);
    const ends: (() => void)[] = [];
    let isWorking = false;
    try {
      for (const source of sources) ends.push(source.start(this.queue));
      await Promise.all(sources.map((source) => source.ready(stop.signal)));
      log.info("Controller started", { controller: name, workers: this.#workers });
      metrics.controller.running(true);
      isWorking = true;
      await this.#workOff({ stop: stop.signal, abort: abort.signal }, (error) => {
        stop.abort(error);
        if (!signals.stop.aborted) abort.abort(error);
      });
    } catch (error) {
      // Not an error: the sources were canceled.
      if (signals.stop.aborted && !isWorking) return;
      throw error;
    } finally {
      for (const end of ends) end();
      this.queue.shutDown();
      metrics.controller.running(false);
      log.info("Controller stopped", { controller: name });
    }
  }

  /**
   * Reconciles keys until `stop` aborts, and ends with the last reconcile. A worker exists only while it has a key: thousands of idle ones would
   * be thousands of listeners.
   * @param onPanic called for a panic outside a reconcile, which is thrown after the running reconciles have ended
   */
  async #workOff({ stop, abort }: RunSignals, onPanic: (error: unknown) => void): Promise<void> {
    using signals = signalFan(abort);
    const panics: unknown[] = [];
    const panicked = (error: unknown): void => {
      panics.push(error);
      onPanic(error);
    };
    const running = new Set<Promise<void>>();
    let onEnded = (): void => undefined;
    while (!stop.aborted) {
      if (running.size === this.#workers) {
        await new Promise<void>((resolve) => (onEnded = resolve));
        continue;
      }
      const item = await this.queue.get(stop);
      if (item === undefined) break;
      const work = this.#work(item, signals)
        .catch(panicked)
        .finally(() => {
          running.delete(work);
          onEnded();
        });
      running.add(work);
    }
    await Promise.all(running);
    if (panics.length > 0) throw panics[0];
  }

  async #work(item: WorkItem, signals: SignalFan): Promise<void> {
    using own = signals.child();
    try {
      settle(this.queue, item.key, item.priority, await this.#reconcile(item, own));
    } finally {
      this.queue.done(item.key);
    }
  }

  async #reconcile(item: WorkItem, own: OwnedSignal): Promise<Outcome> {
    const { name, metrics, program } = this.#environment;
    const { clock, tracing } = program;
    const context = this.#context(item, own.signal);
    const startMs = clock.monotonicMs();
    const outcome = await inReconcileSpan(tracing, name, context, () =>
      this.#attempt(context, (reason) => own.abort(reason)),
    );
    const durationMs = clock.monotonicMs() - startMs;
    const { key, reconcileID } = context;
    metrics.controller.reconciled(outcome.kind, durationMs / 1000);
    const before = this.#history.last(key);
    const record = this.#history.add({ key, reconcileID, endMs: clock.nowMs(), durationMs }, outcome);
    metrics.controller.ended?.(record, before);
    report(context.log, outcome);
    return outcome;
  }

  /** Provides the work context that decides about writes. */
  async #attempt(context: ReconcileContext, stop: (reason: unknown) => void): Promise<Outcome> {
    const { name, metrics } = this.#environment;
    const { reconciler, objects } = this.#options;
    const { key, reconcileID } = context;
    const version = objects?.get(key)?.metadata;
    const work = plannedWork({
      controller: name,
      key,
      provider: this.queue.subqueue(key),
      reconcileID,
      version,
      stop,
    });
    const ended = await doWork(work, () => attempt(reconciler, context));
    const outcome = work.outcome(ended);
    if (outcome.kind !== "aborted") metrics.controller.planned?.(work.key, work.provider, work.writesAt(outcome));
    return outcome;
  }

  #context({ key, priority }: WorkItem, signal: AbortSignal): ReconcileContext {
    const { name, program } = this.#environment;
    const reconcileID = program.newId();
    return {
      key,
      priority,
      signal,
      reconcileID,
      failures: this.queue.failures(key),
      log: program.log.child({ controller: name, key, reconcileID }),
    };
  }
}

async function attempt(reconciler: Reconciler, context: ReconcileContext): Promise<Outcome> {
  try {
    return await reconciler.reconcile(context);
  } catch (error) {
    return classify(error, context.signal);
  }
}

function report(log: Logger, outcome: Outcome): void {
  const isRepeated = (outcome.kind === "error" || outcome.kind === "retry_after") && isReportedElsewhere(outcome.error);
  if (isRepeated) return log.debug(2, "Reconcile is waiting", { err: outcome.error });
  switch (outcome.kind) {
    case "success":
    case "requeue_after":
    case "planned":
      return log.debug(4, "Reconciled", { result: outcome });
    case "error":
      return log.warn("Reconcile failed; retrying with back-off", { err: outcome.error });
    case "retry_after":
      return log.info("Reconcile postponed", { delayMs: outcome.delayMs, err: outcome.error });
    case "terminal_error":
      return log.error("Reconcile failed with a terminal error; waiting for a change", { err: outcome.error });
    case "panic":
      return log.error("Reconcile panicked; retrying with back-off", { err: outcome.error });
    case "aborted":
      return log.debug(2, "Reconcile canceled");
    default:
      outcome satisfies never;
  }
}

/** Changes in the cloud do not enqueue the key. */
const PLAN_AGAIN_MS = 30_000;

/** Translates the outcome to the queue. */
function settle(queue: Workqueue, key: string, priority: Priority, outcome: Outcome): void {
  switch (outcome.kind) {
    case "success":
    case "terminal_error":
      return queue.forget(key);
    case "requeue_after":
      queue.forget(key);
      return queue.addAfter(key, outcome.delayMs, { priority: "low" });
    case "retry_after":
      return queue.addAfter(key, outcome.delayMs, { priority });
    case "error":
      queue.addRateLimited(key, { priority, atLeastMs: outcome.atLeastMs ?? 0 });
      return;
    case "panic":
      queue.addRateLimited(key, { priority });
      return;
    case "planned":
      queue.forget(key);
      return queue.addAfter(key, PLAN_AGAIN_MS, { priority: "low" });
    case "aborted":
      return;
    default:
      outcome satisfies never;
  }
}
