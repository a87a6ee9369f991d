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

/** Work in hand at the end gets this long to finish; kubelet kills after 30 s by default. */
export const GRACE_MS = 15_000;

/** Events still waiting at the end get this long, and so do background tasks and traces. */
const FLUSH_MS = 3000;

/** From the request to end until the API server asks this replica's webhooks no more: endpoints follow readiness within a second or two. */
const WEBHOOKS_LEFT_MS = 5000;

/** For the end as a whole: kubelet kills after 30 s by default, and then nobody says why. */
const END_WITHIN_MS = 28_000;

export interface EndingDependencies {
  /** Ends the process at once. */
  readonly exit: (code: number) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The end of the process from its first moment on, whatever its reason: told once, and limited as a whole. */
export class Ending implements Disposable {
  readonly #deps: EndingDependencies;
  readonly #begun = new AbortController();
  readonly #over = new AbortController();
  #sinceMs = 0;
  #limit: Timer | undefined;

  constructor(dependencies: EndingDependencies) {
    this.#deps = dependencies;
  }

  /** Aborts when the end begins. */
  get signal(): AbortSignal {
    return this.#begun.signal;
  }

  /** Since it began; 0 before. */
  get forMs(): number {
    return this.signal.aborted ? this.#deps.clock.monotonicMs() - this.#sinceMs : 0;
  }

  /** The end begins when `signal` aborts. */
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
    log.info("Ending", { why: messageOf(reason) });
    this.#limit = clock.schedule(END_WITHIN_MS, () => {
      log.error(
        "The end in order takes too long; the process ends at once, and a Lease that it holds stays until it expires",
      );
      exit(EXIT.fault);
    });
    this.#begun.abort(reason);
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    this.#limit?.cancel();
  }
}

export interface EndDependencies {
  readonly events: Pick<EventBroadcaster, "flush">;
  readonly tasks: Pick<TaskGroup, "stop">;
  readonly servers: Pick<Servers, "close" | "hasWebhooks">;
  readonly kube: Pick<ClusterConnection, "close">;
  /** undefined: there are none. */
  readonly traces?: Pick<TraceExport, "stop"> | undefined;
  /** Since `/readyz` fails. */
  readonly notReadyForMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The end of the process, in this order:
 *
 * 1. `/readyz` fails, so that webhooks are asked elsewhere (readiness.ts). All pages answer on.
 * 2. No reconcile begins; those in work have GRACE_MS to finish and are cut short then (controllers.ts).
 * 3. The Lease is released, whatever became of them (leadership/elector.ts). Nothing is changed from here on.
 * 4. Events are sent off: what the last reconciles had to say.
 * 5. Informers, connections to providers and other background tasks end.
 * 6. Traces are sent off: nothing that is worth one happens any more.
 * 7. Servers close: health was answered for as long as there was something to wait for, webhooks until they are asked elsewhere.
 * 8. Connections to the API server close.
 *
 * Steps 1 to 3 follow from the stop signal and are over when this is called. A step that fails holds up no other.
 */
export async function endInOrder(dependencies: EndDependencies): Promise<void> {
  const { events, tasks, servers, kube, traces, log } = dependencies;
  const step = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.warn("A step of the end failed; the end goes on", { step: what, err: error });
    }
  };
  await step("send events", () => events.flush(AbortSignal.timeout(FLUSH_MS)));
  await step("end tasks", () => tasks.stop(new Error("the process ends"), AbortSignal.timeout(FLUSH_MS)));
  if (traces !== undefined) await step("export traces", () => traces.stop(AbortSignal.timeout(FLUSH_MS)));
  if (servers.hasWebhooks) await webhooksLeft(dependencies);
  await step("close servers", () => servers.close());
  await step("close connections", () => kube.close());
  log.info("Ended");
}

function webhooksLeft({ notReadyForMs, clock }: EndDependencies): Promise<void> {
  return sleep(Math.max(0, WEBHOOKS_LEFT_MS - notReadyForMs), new AbortController().signal, clock);
}

export interface ProcessSignalsDependencies {
  readonly process: {
    on(name: NodeJS.Signals | "uncaughtException", listener: (first: unknown, second: unknown) => void): unknown;
    exit(code: number): void;
  };
  readonly clock: Clock;
  readonly log: Logger;
  /** What SIGHUP does; undefined: it asks to end, as it does to programs that have nothing to read again. */
  readonly reload: (() => void) | undefined;
}

/** Terminals, npm and other wrappers send one request twice. */
const SAME_REQUEST_MS = 500;

/**
 * Follows what is sent to the process; the answer aborts when it is asked to end. A second request ends it at once, which the default
 * does not do for the first process of a container. What nobody caught leaves a state that nobody knows: it ends at once, too.
 */
export function handleSignals({ process, clock, log, reload }: ProcessSignalsDependencies): AbortSignal {
  const stop = new AbortController();
  let firstMs = 0;
  const onStop = (signal: keyof typeof EXIT_BY_SIGNAL): void => {
    if (stop.signal.aborted) {
      if (clock.monotonicMs() - firstMs < SAME_REQUEST_MS) return;
      log.warn("Asked to end a second time; the process ends at once", { signal });
      return process.exit(EXIT_BY_SIGNAL[signal]);
    }
    firstMs = clock.monotonicMs();
    stop.abort(new Error(`received ${signal}`));
  };
  process.on("SIGTERM", () => onStop("SIGTERM"));
  process.on("SIGINT", () => onStop("SIGINT"));
  process.on("SIGHUP", () => (reload === undefined ? onStop("SIGHUP") : reload()));
  process.on("uncaughtException", (err, origin) => {
    log.error("A fault that nobody caught; the process ends at once, to be started anew", { origin, err });
    process.exit(EXIT.fault);
  });
  return stop.signal;
}

/** How the process ends, for whoever starts it again (docs/explanation/process-lifecycle.md). */
export const EXIT = {
  /** Asked to end, and ended in order. */
  ok: 0,
  /** Leadership is lost, or something outside has to be put right first: the last line says what. */
  tryAgain: 1,
  /** sysexits.h EX_USAGE: the settings are wrong. */
  usage: 64,
  /** sysexits.h EX_SOFTWARE: a fault of this program. */
  fault: 70,
} as const;

/** As shells count a death by signal. */
export const EXIT_BY_SIGNAL = { SIGINT: 128 + 2, SIGTERM: 128 + 15, SIGHUP: 128 + 1 } as const;

/** Version of this program: package.json is its one place. */
export function readVersion(): string {
  return manifest.version;
}
