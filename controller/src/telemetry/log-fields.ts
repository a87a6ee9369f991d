import { messageOf } from "../util/errors.ts";
import type { LogFields } from "./log.ts";

/** Names of fields whose values never reach a log, whatever a caller passes. */
const SECRET = /^(authorization|token|password|passwd|secret|cookie|privatekey|clientsecret)$/i;

/** Fields fit to be written: errors as plain values, secrets blanked, bigint as text. */
export function safeFields(fields: LogFields): LogFields {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, safeValue(key, value)]));
}

function safeValue(key: string, value: unknown): unknown {
  if (SECRET.test(key)) return "[redacted]";
  if (value instanceof Error) return describeError(value);
  if (typeof value === "bigint") return value.toString();
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
