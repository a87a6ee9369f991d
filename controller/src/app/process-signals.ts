import type { Logger } from "../telemetry/log.ts";
import type { Clock } from "../util/clock.ts";
import { EXIT, EXIT_BY_SIGNAL } from "./exit-codes.ts";

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
