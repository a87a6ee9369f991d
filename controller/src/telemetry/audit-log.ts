import { LineLog, type LineLogDependencies, type LineLogWords } from "./line-log.ts";
import type { Metrics } from "./metrics.ts";

/** Takes what is to be written down of each change. Never blocks, never throws. */
export interface AuditSink {
  /** @param entry what JSON can hold */
  write(entry: object): void;
  /** A change of which no line could be made. */
  lose(error: unknown): void;
}

export type AuditLogDependencies = Omit<LineLogDependencies, "words">;

const WORDS: LineLogWords = {
  write: "The audit log cannot be written; calls go on, lines wait until it can, and are lost when too many do",
  rotate: "The audit log cannot be put aside although it is large; it goes on in the same file",
  reopen: "The audit log cannot be opened anew; it goes on in the file that was open",
  lost: "Lines of the audit log are lost: too many wait to be written",
  again: "The audit log is written again",
  ended: "The process ends before the end of the audit log was written",
};

/** The audit log of the process: a line for each change, behind the calls that they tell of. */
export class AuditLog implements AuditSink {
  readonly #deps: AuditLogDependencies;
  readonly #lines: LineLog;
  #line = 0;

  private constructor(dependencies: AuditLogDependencies) {
    this.#deps = dependencies;
    this.#lines = LineLog.open({ ...dependencies, words: WORDS });
  }

  /** Throws where the path cannot be opened. */
  static open(dependencies: AuditLogDependencies): AuditLog {
    return new AuditLog(dependencies);
  }

  write(entry: object): void {
    this.#line++;
    this.#lines.append(this.#line, Buffer.from(`${JSON.stringify({ line: this.#line, ...entry })}\n`));
  }

  lose(error: unknown): void {
    this.#line++;
    this.#deps.metrics.count("dropped", 1);
    this.#deps.log.error("Could not write a change to the audit log: internal error", {
      err: error,
    });
  }

  /** Another program has put the file aside, as logrotate does. */
  reopen(): void {
    this.#lines.reopen();
  }

  /** Writes what waits, for so long at most. Nothing may be written afterwards. */
  close(withinMs: number): Promise<void> {
    return this.#lines.close(withinMs);
  }
}

/** What becomes of lines of the audit log. */
export type AuditFate = "written" | "dropped";

export interface AuditMetrics {
  count(fate: AuditFate, lines: number): void;
  /** A write, a rotation or a reopening failed; lines wait and are tried again. */
  failed(): void;
}

export function auditMetrics(metrics: Metrics): AuditMetrics {
  const lines = metrics.counter({
    name: "cloudwire_audit_lines_total",
    help: "Lines of the audit log, by result.",
    labels: ["result"],
  });
  const failures = metrics.counter({
    name: "cloudwire_audit_failures_total",
    help: "Failed attempts to write, rotate or reopen the audit log. Writes are retried.",
  });
  return { count: (fate, number) => lines.inc({ result: fate }, number), failed: () => failures.inc() };
}
