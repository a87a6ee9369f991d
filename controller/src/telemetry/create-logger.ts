import { pino } from "pino";
import type { Clock } from "../util/clock.ts";
import { type LogFields, type LogLevel, type Logger, formatLine, safeFields } from "./log.ts";

/** Such as `process.stderr`. */
export interface LogDestination {
  write(line: string): void;
}

export interface LogOptions {
  /** `json`: one object per line (pino). `text`: human-readable. */
  readonly format: "json" | "text";
  /** Can change while the process runs. */
  readonly verbosity: () => number;
  readonly destination: LogDestination;
  readonly clock: Clock;
}

type Emit = (level: LogLevel, verbosity: number, message: string, fields: LogFields) => void;

export function createLogger(options: LogOptions): Logger {
  return loggerOver(options.format === "json" ? jsonEmit(options) : textEmit(options), options.verbosity, {});
}

function loggerOver(emit: Emit, verbosity: () => number, bound: LogFields): Logger {
  const write = (level: LogLevel, detail: number, message: string, fields: LogFields | undefined): void =>
    emit(level, detail, message, safeFields(fields === undefined ? bound : { ...bound, ...fields }));
  return {
    error: (message, fields) => write("error", 0, message, fields),
    warn: (message, fields) => write("warn", 0, message, fields),
    info: (message, fields) => write("info", 0, message, fields),
    debug: (level, message, fields) => {
      if (level <= verbosity()) write("debug", level, message, fields);
    },
    child: (fields) => loggerOver(emit, verbosity, { ...bound, ...fields }),
  };
}

function jsonEmit({ destination, clock }: LogOptions): Emit {
  const log = pino(
    {
      base: null,
      // log.ts has converted errors to plain values.
      serializers: { err: (err: unknown) => err },
      level: "debug",
      messageKey: "msg",
      timestamp: () => `,"ts":"${new Date(clock.nowMs()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  return (level, verbosity, message, fields) => {
    log[level](verbosity === 0 ? fields : { v: verbosity, ...fields }, message);
  };
}

function textEmit({ destination, clock }: LogOptions): Emit {
  return (level, _verbosity, message, fields) => {
    destination.write(formatLine(clock.nowMs(), level, message, fields));
  };
}
