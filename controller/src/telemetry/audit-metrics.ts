import type { Metrics } from "./metrics.ts";

/** What becomes of lines of the audit log. */
export type AuditFate = "written" | "lost";

export interface AuditMetrics {
  count(fate: AuditFate, lines: number): void;
  /** A write, a rotation or a reopening failed; lines wait and are tried again. */
  failed(): void;
}

export function auditMetrics(metrics: Metrics): AuditMetrics {
  const lines = metrics.counter({
    name: "cloudwire_audit_lines_total",
    help: "Lines of the audit log, by what became of them: written; lost, too many waited for a file that could not be written.",
    labels: ["result"],
  });
  const failures = metrics.counter({
    name: "cloudwire_audit_failures_total",
    help: "Tries to write, rotate or reopen the audit log that failed. What could not be written is tried again.",
  });
  return { count: (fate, number) => lines.inc({ result: fate }, number), failed: () => failures.inc() };
}
