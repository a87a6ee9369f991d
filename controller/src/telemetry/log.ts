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
