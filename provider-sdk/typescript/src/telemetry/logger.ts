import { redacted, redactText, secretFieldTest } from "./redact.ts";

/** How grave a line is. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Facts of a line. Errors are written with their stack and their causes. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes lines with a constant message and facts beside it. */
export interface Logger {
  /** What only somebody who looks for a fault wants to read. */
  readonly debug: (message: string, fields?: LogFields) => void;
  /** What an operator may want to know. */
  readonly info: (message: string, fields?: LogFields) => void;
  /** What may become a fault. */
  readonly warn: (message: string, fields?: LogFields) => void;
  /** What somebody should look at. */
  readonly error: (message: string, fields?: LogFields) => void;
  /** A logger whose lines all carry these facts too. */
  readonly child: (fields: LogFields) => Logger;
}

/** What a logger needs. */
export interface LoggerOptions {
  /** Lines below it are dropped. A function is asked at each line, so that the level can change. */
  readonly level: LogLevel | (() => LogLevel);
  /** Names of more fields whose values are never written, at whatever depth; `-`, `_` and case do not matter. */
  readonly secretFields?: readonly string[] | undefined;
  /** Takes one line, newline included. */
  readonly write: (line: string) => void;
  /** Time of the lines. */
  readonly now: () => Date;
}

const severity = { debug: 10, info: 20, warn: 30, error: 40 } as const;

/** Reads a level as an operator writes it; undefined if it is none. */
export const parseLogLevel = (text: string): LogLevel | undefined =>
  text === "debug" || text === "info" || text === "warn" || text === "error" ? text : undefined;

/**
 * Makes a logger of JSON lines: `time`, `level`, `message`, then the facts. `***` takes the place of what looks like a secret: the value of
 * a field called `password`, `token`, `authorization` and the like, and private keys, bearer tokens, web tokens, access keys of the large
 * clouds and passwords in URLs wherever they stand.
 */
export const createLogger = (options: LoggerOptions, bound: LogFields = {}): Logger =>
  loggerWith({ ...options, isSecret: secretFieldTest(options.secretFields ?? []) }, bound);

interface ReadyOptions extends LoggerOptions {
  readonly isSecret: (name: string) => boolean;
}

const loggerWith = (options: ReadyOptions, bound: LogFields): Logger => {
  const line = (level: LogLevel) => (message: string, fields?: LogFields) => {
    const least = typeof options.level === "function" ? options.level() : options.level;
    if (severity[level] < severity[least]) return;
    const record = { time: options.now().toISOString(), level, message, ...bound, ...fields };
    options.write(`${stringify(record, options.isSecret)}\n`);
  };
  return {
    debug: line("debug"),
    info: line("info"),
    warn: line("warn"),
    error: line("error"),
    child: (fields) => loggerWith(options, { ...bound, ...fields }),
  };
};

/** A log line must never fail a call: what cannot be written is said to be so. */
const stringify = (record: Record<string, unknown>, isSecret: ReadyOptions["isSecret"]): string => {
  const plain = (key: string, value: unknown): unknown => (isSecret(key) ? hide(value) : writable(value));
  try {
    return JSON.stringify(record, plain);
  } catch (error) {
    const { time, level, message } = record;
    return JSON.stringify({ time, level, message, unloggable: String(error) }, plain);
  }
};

/** Whether there was a value may be told. */
const hide = (value: unknown): unknown => (value === undefined || value === null ? value : redacted);

const writable = (value: unknown): unknown => {
  if (typeof value === "string") return redactText(value);
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
