import manifest from "@cloudwire/controller/package.json" with { type: "json" };
import type { ClusterConnection } from "../kube/cluster.ts";
import type { EventBroadcaster } from "../kube/events/broadcaster.ts";
import type { Logger } from "../telemetry/log.ts";
import type { TraceExport } from "../telemetry/trace-export.ts";
import { sleep } from "../util/abort.ts";
import type { Clock, Timer } from "../util/clock.ts";
import { messageOf } from "../util/errors.ts";
import type { TaskGroup } from "../util/task-group.ts";
import type { Servers } from "./serving.ts";

/** Grace period for running reconciles; kubelet kills after 30 s by default. */
export const GRACE_MS = 15_000;

/** Time limit for each of events, background tasks and traces. */
const FLUSH_MS = 3000;

/** Until API servers no longer call this replica's webhooks: endpoints follow readiness within a second or two. */
const WEBHOOK_DRAIN_MS = 5000;

/** Limit of the whole shutdown: kubelet kills after 30 s by default, without a log line. */
const SHUTDOWN_LIMIT_MS = 28_000;

export interface ShutdownDependencies {
  /** Ends the process immediately. */
  readonly exit: (code: number) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The shutdown from its beginning: logged once, and limited in time. */
export class Shutdown implements Disposable {
  readonly #deps: ShutdownDependencies;
  readonly #begun = new AbortController();
  readonly #over = new AbortController();
  #sinceMs = 0;
  #limit: Timer | undefined;

  constructor(dependencies: ShutdownDependencies) {
    this.#deps = dependencies;
  }

  /** Aborts when the shutdown begins. */
  get signal(): AbortSignal {
    return this.#begun.signal;
  }

  /** Since it began; 0 before. */
  get elapsedMs(): number {
    return this.signal.aborted ? this.#deps.clock.monotonicMs() - this.#sinceMs : 0;
  }

  /** Begins when `signal` aborts. */
  follow(signal: AbortSignal): void {
    const begin = (): void => this.begin(signal.reason);
    if (signal.aborted) begin();
    else signal.addEventListener("abort", begin, { once: true, signal: this.#over.signal });
  }

  /** Only the first reason counts. */
  begin(reason: unknown): void {
    const { clock, log, exit } = this.#deps;
    if (this.signal.aborted) return;
    this.#sinceMs = clock.monotonicMs();
    log.info("Shutting down", { detail: messageOf(reason) });
    this.#limit = clock.schedule(SHUTDOWN_LIMIT_MS, () => {
      log.error("Graceful shutdown timed out; a Lease that this process holds stays until it expires");
      exit(EXIT.internalError);
    });
    this.#begun.abort(reason);
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    this.#limit?.cancel();
  }
}

export interface ShutDownDependencies {
  readonly events: Pick<EventBroadcaster, "flush">;
  readonly tasks: Pick<TaskGroup, "stop">;
  readonly servers: Pick<Servers, "close" | "hasWebhooks">;
  readonly kube: Pick<ClusterConnection, "close">;
  readonly traces?: Pick<TraceExport, "stop"> | undefined;
  /** How long `/readyz` has failed. */
  readonly notReadyForMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Order of the shutdown:
 *
 * 1. `/readyz` fails: API servers call the webhooks of other replicas (readiness.ts). All endpoints still respond.
 * 2. No reconcile starts; running ones have GRACE_MS and are then canceled (controllers.ts).
 * 3. The Lease is released, even after a cancellation (leadership/elector.ts). Nothing is written from here on.
 * 4. Pending events are sent.
 * 5. Informers, connections to providers and other background tasks stop.
 * 6. Traces are exported.
 * 7. Servers close.
 * 8. Connections to the API server close.
 *
 * Steps 1 to 3 follow from the stop signal and are done when this is called. A step that fails does not stop the next.
 */
export async function shutDown(dependencies: ShutDownDependencies): Promise<void> {
  const { events, tasks, servers, kube, traces, log } = dependencies;
  const step = async (name: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.warn("A step of the shutdown failed", { step: name, err: error });
    }
  };
  await step("send events", () => events.flush(AbortSignal.timeout(FLUSH_MS)));
  await step("stop tasks", () => tasks.stop(new Error("the process is shutting down"), AbortSignal.timeout(FLUSH_MS)));
  if (traces !== undefined) await step("export traces", () => traces.stop(AbortSignal.timeout(FLUSH_MS)));
  if (servers.hasWebhooks) await drainWebhooks(dependencies);
  await step("close servers", () => servers.close());
  await step("close connections", () => kube.close());
  log.info("Shutdown completed");
}

function drainWebhooks({ notReadyForMs, clock }: ShutDownDependencies): Promise<void> {
  return sleep(Math.max(0, WEBHOOK_DRAIN_MS - notReadyForMs), new AbortController().signal, clock);
}

export interface ProcessSignalsDependencies {
  readonly process: {
    on(name: NodeJS.Signals | "uncaughtException", listener: (first: unknown, second: unknown) => void): unknown;
    exit(code: number): void;
  };
  readonly clock: Clock;
  readonly log: Logger;
  /** On SIGHUP; undefined: SIGHUP stops the process. */
  readonly reload: (() => void) | undefined;
}

/** Terminals, npm and other wrappers send a signal twice. */
const SAME_REQUEST_MS = 500;

/**
 * Returns a signal that aborts on the first stop signal. A second one ends the process immediately, as Node's default does not for
 * PID 1 of a container; so does an uncaught exception, which leaves an unknown state.
 */
export function handleSignals({ process, clock, log, reload }: ProcessSignalsDependencies): AbortSignal {
  const stop = new AbortController();
  let firstMs = 0;
  const onStop = (signal: keyof typeof EXIT_BY_SIGNAL): void => {
    if (stop.signal.aborted) {
      if (clock.monotonicMs() - firstMs < SAME_REQUEST_MS) return;
      log.warn("Received a second stop signal; exiting immediately", { signal });
      return process.exit(EXIT_BY_SIGNAL[signal]);
    }
    firstMs = clock.monotonicMs();
    stop.abort(new Error(`received ${signal}`));
  };
  process.on("SIGTERM", () => onStop("SIGTERM"));
  process.on("SIGINT", () => onStop("SIGINT"));
  process.on("SIGHUP", () => (reload === undefined ? onStop("SIGHUP") : reload()));
  process.on("uncaughtException", (err, origin) => {
    log.error("Uncaught exception; exiting", { origin, err });
    process.exit(EXIT.internalError);
  });
  return stop.signal;
}

/** See docs/explanation/process-lifecycle.md. */
export const EXIT = {
  /** Shut down cleanly. */
  ok: 0,
  /** Leadership is lost, or an operator must fix the environment; the last line explains. */
  tryAgain: 1,
  /** sysexits.h EX_USAGE: invalid settings. */
  usage: 64,
  /** sysexits.h EX_SOFTWARE: a bug. */
  internalError: 70,
} as const;

/** As shells report a death by signal. */
export const EXIT_BY_SIGNAL = { SIGINT: 128 + 2, SIGTERM: 128 + 15, SIGHUP: 128 + 1 } as const;

export function readVersion(): string {
  return manifest.version;
}
