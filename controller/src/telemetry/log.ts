import { messageOf } from "../util/errors.ts";
import { isRecord } from "../util/json.ts";

/** Structured log: constant messages, with everything that varies in fields. Secrets are never fields. */
export interface Logger {
  /** Needs attention from an operator. Pass the error as `err`. */
  error(message: string, fields?: LogFields): void;
  /** Unusual but handled. */
  warn(message: string, fields?: LogFields): void;
  /** Shown by default (-v 0). */
  info(message: string, fields?: LogFields): void;
  /** Shown with --v >= level (Kubernetes' convention: 2 steady state, 4 debug, 6 requests). */
  debug(level: number, message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to each line. */
  child(fields: LogFields): Logger;
}

export type LogFields = Readonly<Record<string, unknown>>;

export type LogLevel = "error" | "warn" | "info" | "debug";

/** Names of fields whose values are redacted at any depth. */
const SECRET = /^(authorization|token|password|passwd|secret|cookie|privatekey|clientsecret)$/i;

/** Errors become plain values, secrets are redacted, and bigint becomes text. */
export function safeFields(fields: LogFields): LogFields {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, safeValue(key, value)]));
}

function safeValue(key: string, value: unknown): unknown {
  if (SECRET.test(key)) return "[redacted]";
  if (value instanceof Error) return describeError(value);
  if (typeof value === "bigint") return value.toString();
  // Durations to the microsecond: further digits are noise of the clock.
  if (typeof value === "number" && !Number.isInteger(value)) return Math.round(value * 1000) / 1000;
  if (Array.isArray(value)) return value.map((item: unknown) => safeValue("", item));
  // Such an object removes its own secrets when the line is written.
  if (isRecord(value) && !("toJSON" in value)) return safeFields(value);
  return value;
}

/** An error with a `code` is expected, and its message is enough. Others are internal errors, with a stack. */
function describeError(error: Error): LogFields {
  const message = messageOf(error);
  if ("code" in error && (typeof error.code === "string" || typeof error.code === "number")) {
    return { type: error.name, code: error.code, message };
  }
  return { type: error.name, message, stack: error.stack };
}

const LABELS = { error: "ERROR", warn: "WARN ", info: "INFO ", debug: "DEBUG" } as const;

/** `12:00:00.000 INFO  message key=value`; followed by the lines of a stack. */
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
