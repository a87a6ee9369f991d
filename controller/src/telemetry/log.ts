import { messageOf } from "../util/errors.ts";
import { isRecord } from "../util/json.ts";

/** Structured log: a constant message, everything that varies in fields. Secrets are never fields. */
export interface Logger {
  /** For a person to look at now. Pass the error as `err`. */
  error(message: string, fields?: LogFields): void;
  /** Unusual, handled. */
  warn(message: string, fields?: LogFields): void;
  /** What an operator wants to see by default (-v 0). */
  info(message: string, fields?: LogFields): void;
  /** More detail: shown when the process runs with --v >= level (Kubernetes convention: 2 steady state, 4 debug, 6 requests). */
  debug(level: number, message: string, fields?: LogFields): void;
  /** A logger whose lines all carry `fields` too. */
  child(fields: LogFields): Logger;
}

export type LogFields = Readonly<Record<string, unknown>>;

export type LogLevel = "error" | "warn" | "info" | "debug";

/** Names of fields whose values never reach a log, whatever a caller passes, and however deep. */
const SECRET = /^(authorization|token|password|passwd|secret|cookie|privatekey|clientsecret)$/i;

/** Fields fit to be written: errors as plain values, secrets blanked, bigint as text. */
export function safeFields(fields: LogFields): LogFields {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, safeValue(key, value)]));
}

function safeValue(key: string, value: unknown): unknown {
  if (SECRET.test(key)) return "[redacted]";
  if (value instanceof Error) return describeError(value);
  if (typeof value === "bigint") return value.toString();
  // Durations to the microsecond: what comes after is noise of the clock.
  if (typeof value === "number" && !Number.isInteger(value)) return Math.round(value * 1000) / 1000;
  if (Array.isArray(value)) return value.map((item: unknown) => safeValue("", item));
  // What turns itself to JSON does so when the line is written, and sees to its own secrets.
  if (isRecord(value) && !("toJSON" in value)) return safeFields(value);
  return value;
}

/** An error with a `code` is an expected failure: its message says all. Anything else is a fault of ours: with the stack. */
function describeError(error: Error): LogFields {
  const message = messageOf(error);
  if ("code" in error && (typeof error.code === "string" || typeof error.code === "number")) {
    return { type: error.name, code: error.code, message };
  }
  return { type: error.name, message, stack: error.stack };
}

const LABELS = { error: "ERROR", warn: "WARN ", info: "INFO ", debug: "DEBUG" } as const;

/** `12:00:00.000 INFO  message key=value`; a stack, if any, on lines of its own. */
export function formatLine(nowMs: number, level: LogLevel, message: string, fields: LogFields): string {
  const { stack, rest } = takeStack(fields);
  const pairs = Object.entries(rest).map(([key, value]) => ` ${key}=${formatValue(value)}`);
  const time = new Date(nowMs).toISOString().slice(11, 23);
  return `${time} ${LABELS[level]} ${message}${pairs.join("")}\n${stack}`;
}

function takeStack(fields: LogFields): { stack: string; rest: LogFields } {
  const err = fields["err"];
  if (typeof err !== "object" || err === null) return { stack: "", rest: fields };
  const stack = "stack" in err && typeof err.stack === "string" ? `${err.stack}\n` : "";
  const message = "message" in err ? err.message : err;
  return { stack, rest: { ...fields, err: message } };
}

function formatValue(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  return typeof value === "string" && /[\s"=]/.test(text) ? JSON.stringify(text) : text;
}
