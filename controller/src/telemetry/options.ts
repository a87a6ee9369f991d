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
    help: "how much detail to log: 2 steady state, 4 decisions, 6 calls",
  }),
  loggingFormat: choiceFlag({
    group: "logging",
    choices: ["text", "json"],
    defaultValue: "text",
    help: "how log lines are written to standard error",
    differs: "json is always there",
  }),
} as const;

/** The audit log, in the words of kube-apiserver's. */
export const auditFlags = {
  auditLogPath: stringFlag({
    group: "audit",
    valueName: "file",
    help: "where each call that changes something at a provider is written as one line of JSON; - is standard output, empty: nowhere",
  }),
  auditLogMaxsize: numberFlag({
    group: "audit",
    valueName: "megabytes",
    defaultValue: 100,
    min: 0,
    max: 100_000,
    whole: true,
    help: "size at which the file of --audit-log-path is put aside and a new one begun; 0: never, as where logrotate does it and sends SIGHUP",
  }),
  auditLogMaxbackup: numberFlag({
    group: "audit",
    valueName: "number",
    defaultValue: 10,
    min: 1,
    max: 1000,
    whole: true,
    help: "files put aside that are kept beside it, as file.1 (the last one), file.2 and so on",
  }),
  auditEvents: boolFlag({
    group: "audit",
    defaultValue: false,
    help: "tell each call that changes something at a provider in an event, too, on the Service or the Node that it is about",
  }),
} as const;

export type AuditOptions = OptionsOf<typeof auditFlags>;

/** The recording of what is said to providers. */
export const recordingFlags = {
  recordProvider: stringFlag({
    group: "recording",
    valueName: "file",
    help: "where each call to a provider and its answer are recorded, without secrets, for cloudwire replay; empty: nowhere",
  }),
  recordProviderMaxsize: numberFlag({
    group: "recording",
    valueName: "megabytes",
    defaultValue: 100,
    min: 1,
    max: 100_000,
    whole: true,
    help: "size at which nothing more is recorded to the file of --record-provider",
  }),
} as const;

export type RecordingOptions = OptionsOf<typeof recordingFlags>;
