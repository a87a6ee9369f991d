import type { Options } from "../options/options.ts";
import { AuditLog } from "../telemetry/audit-log.ts";
import { auditMetrics } from "../telemetry/audit-metrics.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Clock } from "../util/clock.ts";
import { messageOf } from "../util/errors.ts";

export type AuditOpening =
  | { readonly kind: "open"; readonly audit: AuditLog }
  | { readonly kind: "off"; readonly audit: undefined }
  | { readonly kind: "failed"; readonly problem: string };

export interface AuditDependencies {
  readonly options: Pick<Options, "auditLogPath" | "auditLogMaxsize" | "auditLogMaxbackup">;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

const MEGABYTE = 1024 * 1024;

/** The audit log that the settings ask for. Who asks for one and cannot have it should hear of it before anything is changed. */
export function openAuditLog({ options, metrics, clock, log }: AuditDependencies): AuditOpening {
  const { auditLogPath: path, auditLogMaxsize, auditLogMaxbackup: backups } = options;
  if (path === "") return { kind: "off", audit: undefined };
  try {
    const limits = { maxBytes: auditLogMaxsize * MEGABYTE, backups };
    return { kind: "open", audit: AuditLog.open({ path, ...limits, metrics: auditMetrics(metrics), clock, log }) };
  } catch (error) {
    return { kind: "failed", problem: `--audit-log-path: ${path}: cannot be opened for writing: ${messageOf(error)}` };
  }
}
