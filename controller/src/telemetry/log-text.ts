import type { LogFields, LogLevel } from "./log.ts";

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
