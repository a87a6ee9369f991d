import { boolFlag, numberFlag, stringFlag } from "../options/flag.ts";

const group = "audit";

/** The audit log, in the words of kube-apiserver's. */
export const auditFlags = {
  auditLogPath: stringFlag({
    group,
    valueName: "file",
    help: "where each call that changes something at a provider is written as one line of JSON; - is standard output, empty: nowhere",
  }),
  auditLogMaxsize: numberFlag({
    group,
    valueName: "megabytes",
    defaultValue: 100,
    min: 0,
    max: 100_000,
    whole: true,
    help: "size at which the file of --audit-log-path is put aside and a new one begun; 0: never, as where logrotate does it and sends SIGHUP",
  }),
  auditLogMaxbackup: numberFlag({
    group,
    valueName: "number",
    defaultValue: 10,
    min: 1,
    max: 1000,
    whole: true,
    help: "files put aside that are kept beside it, as file.1 (the last one), file.2 and so on",
  }),
  auditEvents: boolFlag({
    group,
    defaultValue: false,
    help: "tell each call that changes something at a provider in an event, too, on the Service or the Node that it is about",
  }),
} as const;
