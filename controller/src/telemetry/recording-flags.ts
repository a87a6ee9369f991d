import { numberFlag, stringFlag } from "../options/flag.ts";

const group = "recording";

/** The recording of what is said to providers. */
export const recordingFlags = {
  recordProvider: stringFlag({
    group,
    valueName: "file",
    help: "where each call to a provider and its answer are recorded, without secrets, for cloudwire replay; empty: nowhere",
  }),
  recordProviderMaxsize: numberFlag({
    group,
    valueName: "megabytes",
    defaultValue: 100,
    min: 1,
    max: 100_000,
    whole: true,
    help: "size at which nothing more is recorded to the file of --record-provider",
  }),
} as const;
