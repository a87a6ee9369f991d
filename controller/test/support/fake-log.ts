import type { LogFields, Logger } from "../../src/telemetry/log.ts";

export interface LogLine {
  readonly level: "error" | "warn" | "info" | "debug";
  readonly message: string;
  readonly fields: LogFields;
}

/** Keeps every line, whatever its level. */
export class FakeLog implements Logger {
  readonly lines: LogLine[];
  readonly #fields: LogFields;

  constructor(lines: LogLine[] = [], fields: LogFields = {}) {
    this.lines = lines;
    this.#fields = fields;
  }

  error(message: string, fields: LogFields = {}): void {
    this.#add("error", message, fields);
  }

  warn(message: string, fields: LogFields = {}): void {
    this.#add("warn", message, fields);
  }

  info(message: string, fields: LogFields = {}): void {
    this.#add("info", message, fields);
  }

  debug(_level: number, message: string, fields: LogFields = {}): void {
    this.#add("debug", message, fields);
  }

  child(fields: LogFields): Logger {
    return new FakeLog(this.lines, { ...this.#fields, ...fields });
  }

  /** Messages of one level, in order. */
  messages(level: LogLine["level"]): readonly string[] {
    return this.lines.filter((line) => line.level === level).map((line) => line.message);
  }

  #add(level: LogLine["level"], message: string, fields: LogFields): void {
    this.lines.push({ level, message, fields: { ...this.#fields, ...fields } });
  }
}
