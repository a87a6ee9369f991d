import { LineLog, type LineLogDependencies, type LineLogMessages, type LineMetrics, lineMetrics } from "./line-log.ts";
import type { Metrics } from "./metrics.ts";

/** Never blocks, never throws. */
export interface AuditSink {
  /** @param entry serializable as JSON */
  write(entry: object): void;
  /** A change that could not be serialized. */
  drop(error: unknown): void;
}

export type AuditLogDependencies = Omit<LineLogDependencies, "messages">;

const MESSAGES: LineLogMessages = {
  write: "Could not write the audit log; lines are queued, and dropped when the queue is full",
  rotate: "Could not rotate the audit log; lines go to the same file",
  reopen: "Could not reopen the audit log; lines go to the open file",
  dropped: "Dropping lines of the audit log: the queue is full",
  recovered: "Writing the audit log again",
  ended: "The process ends with unwritten lines of the audit log",
};

/** One line per change, written in the background. */
export class AuditLog implements AuditSink {
  readonly #deps: AuditLogDependencies;
  readonly #lines: LineLog;
  #line = 0;

  /** Throws if the path cannot be opened. */
  constructor(dependencies: AuditLogDependencies) {
    this.#deps = dependencies;
    this.#lines = new LineLog({ ...dependencies, messages: MESSAGES });
  }

  write(entry: object): void {
    this.#line++;
    this.#lines.append(this.#line, Buffer.from(`${JSON.stringify({ line: this.#line, ...entry })}\n`));
  }

  drop(error: unknown): void {
    this.#line++;
    this.#deps.metrics.count("dropped", 1);
    this.#deps.log.error("Could not write a change to the audit log: internal error", { err: error });
  }

  /** For programs such as logrotate that have moved the file. */
  reopen(): void {
    this.#lines.reopen();
  }

  /** Writes queued lines for at most `withinMs`. Nothing may be written afterwards. */
  close(withinMs: number): Promise<void> {
    return this.#lines.close(withinMs);
  }
}

export function auditMetrics(metrics: Metrics): LineMetrics {
  const lines = metrics.counter({
    name: "cloudwire_audit_lines_total",
    help: "Lines of the audit log, by result.",
    labels: ["result"],
  });
  const failures = metrics.counter({
    name: "cloudwire_audit_failures_total",
    help: "Failed attempts to write, rotate or reopen the audit log. Writes are retried.",
  });
  return lineMetrics(lines, failures);
}
