import type { Options } from "../app/options.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { RecordingLog } from "./recording-log.ts";
import { recordingMetrics } from "./recording-metrics.ts";
import type { Clock } from "../util/clock.ts";
import { messageOf } from "../util/errors.ts";

export type RecordingOpening =
  | { readonly kind: "open"; readonly recording: RecordingLog }
  | { readonly kind: "off"; readonly recording: undefined }
  | { readonly kind: "failed"; readonly problem: string };

export interface RecordingDependencies {
  readonly options: Pick<Options, "recordProvider" | "recordProviderMaxsize" | "provider">;
  /** Program and version. */
  readonly program: string;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

const MEGABYTE = 1024 * 1024;

/** The recording that the settings ask for. */
export function openRecording({ options, program, metrics, clock, log }: RecordingDependencies): RecordingOpening {
  const { recordProvider: path, recordProviderMaxsize, provider } = options;
  if (path === "") return { kind: "off", recording: undefined };
  if (path === "-") return { kind: "failed", problem: "--record-provider: must be a file, not standard output" };
  const providers = provider.map(({ name, address }) => ({ name, address }));
  try {
    const limits = { path, maxBytes: recordProviderMaxsize * MEGABYTE, head: { program, providers } };
    const recording = RecordingLog.open({ ...limits, metrics: recordingMetrics(metrics), clock, log });
    return { kind: "open", recording };
  } catch (error) {
    return { kind: "failed", problem: `--record-provider: ${path}: cannot be opened for writing: ${messageOf(error)}` };
  }
}
