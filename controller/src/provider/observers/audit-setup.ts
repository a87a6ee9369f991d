import { CLOUD_CONTROLLER_MANAGER } from "../../api/controller-names.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import { auditEventSink } from "./audit-event-sink.ts";
import type { ChangeAudit } from "./audited.ts";
import type { Options } from "../../app/options.ts";
import { AuditLog, type AuditSink } from "../../telemetry/audit-log.ts";
import { auditMetrics } from "../../telemetry/audit-metrics.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Clock } from "../../util/clock.ts";
import { messageOf } from "../../util/errors.ts";

export type AuditOpening =
  | { readonly kind: "open"; readonly audit: AuditLog }
  | { readonly kind: "off"; readonly audit: undefined }
  | { readonly kind: "failed"; readonly problem: string };

export interface AuditDependencies {
  readonly options: Options;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What is told of each change: in the audit log, in events, both or not at all. */
export function changeAudit(
  { auditEvents }: Pick<Options, "auditEvents">,
  log: AuditSink | undefined,
  events: (component: string) => EventRecorder,
): ChangeAudit | undefined {
  if (!auditEvents) return log;
  const recorder = events(CLOUD_CONTROLLER_MANAGER);
  return auditEventSink(log, (event) => recorder.record(event));
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
