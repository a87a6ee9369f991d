/** How grave a line is. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Facts of a line. Errors are written with their stack and their causes. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes lines with a constant message and facts beside it. */
export interface Logger {
  readonly debug: (message: string, fields?: LogFields) => void;
  readonly info: (message: string, fields?: LogFields) => void;
  readonly warn: (message: string, fields?: LogFields) => void;
  readonly error: (message: string, fields?: LogFields) => void;
  /** A logger whose lines all carry these facts too. */
  readonly child: (fields: LogFields) => Logger;
}

/** What a logger needs. */
export interface LoggerOptions {
  /** Lines below it are dropped. */
  readonly level: LogLevel;
  /** Takes one line, newline included. */
  readonly write: (line: string) => void;
  readonly now: () => Date;
}

const severity = { debug: 10, info: 20, warn: 30, error: 40 } as const;

/** Reads a level as an operator writes it; undefined if it is none. */
export const parseLogLevel = (text: string): LogLevel | undefined =>
  text === "debug" || text === "info" || text === "warn" || text === "error" ? text : undefined;

/** Makes a logger of JSON lines: `time`, `level`, `message`, then the facts. */
export const createLogger = (options: LoggerOptions, bound: LogFields = {}): Logger => {
  const line = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (severity[level] < severity[options.level]) return;
    options.write(`${stringify({ time: options.now().toISOString(), level, message, ...bound, ...fields })}\n`);
  };
  return {
    debug: line("debug"),
    info: line("info"),
    warn: line("warn"),
    error: line("error"),
    child: (fields) => createLogger(options, { ...bound, ...fields }),
  };
};

/** A log line must never fail a call: what cannot be written is said to be so. */
const stringify = (record: Record<string, unknown>): string => {
  try {
    return JSON.stringify(record, plain);
  } catch (error) {
    return JSON.stringify({
      time: record["time"],
      level: record["level"],
      message: record["message"],
      unloggable: String(error),
    });
  }
};

const plain = (_key: string, value: unknown): unknown => {
  if (value instanceof Error) return describeError(value);
  if (typeof value === "bigint") return value.toString();
  return value;
};

const describeError = (error: Error): Record<string, unknown> => ({
  ...Object.fromEntries(Object.entries(error)),
  name: error.name,
  message: error.message,
  stack: error.stack,
  ...(error.cause === undefined ? {} : { cause: error.cause }),
});
