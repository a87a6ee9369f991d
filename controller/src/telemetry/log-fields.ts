import { messageOf } from "../util/errors.ts";
import { isRecord } from "../util/json.ts";
import type { LogFields } from "./log.ts";

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
