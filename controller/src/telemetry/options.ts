import { boolFlag, choiceFlag, numberFlag, stringFlag } from "../options/flag.ts";
import type { OptionsOf } from "../options/table.ts";

export const logFlags = {
  v: numberFlag({
    group: "logging",
    reloadable: true,
    valueName: "level",
    defaultValue: 0,
    min: 0,
    whole: true,
    help: "verbosity of the log: 2 steady state, 4 decisions, 6 calls",
  }),
  loggingFormat: choiceFlag({
    group: "logging",
    choices: ["text", "json"],
    defaultValue: "text",
    help: "format of the log on standard error",
    differs: "json needs no registration",
  }),
} as const;

/** Named as in kube-apiserver. */
export const auditFlags = {
  auditLogPath: stringFlag({
    group: "audit",
    valueName: "file",
    help: "file for the audit log: one line of JSON per provider call that changes something; - is standard output; empty: disabled",
  }),
  auditLogMaxsize: numberFlag({
    group: "audit",
    valueName: "megabytes",
    defaultValue: 100,
    min: 0,
    max: 100_000,
    whole: true,
    help: "size at which the audit log is rotated; 0: never, for logrotate, which must send SIGHUP",
  }),
  auditLogMaxbackup: numberFlag({
    group: "audit",
    valueName: "number",
    defaultValue: 10,
    min: 1,
    max: 1000,
    whole: true,
    help: "rotated audit logs to keep, as file.1 (the newest), file.2 and so on",
  }),
  auditEvents: boolFlag({
    group: "audit",
    defaultValue: false,
    help: "also record an event on the Service or Node for each provider call that changes something",
  }),
} as const;

export type AuditOptions = OptionsOf<typeof auditFlags>;

export const recordingFlags = {
  recordProvider: stringFlag({
    group: "recording",
    valueName: "file",
    help: "file for a recording of all calls to providers, without secrets, for cloudwire replay; empty: disabled",
  }),
  recordProviderMaxsize: numberFlag({
    group: "recording",
    valueName: "megabytes",
    defaultValue: 100,
    min: 1,
    max: 100_000,
    whole: true,
    help: "size at which the recording stops",
  }),
} as const;

export type RecordingOptions = OptionsOf<typeof recordingFlags>;
