import { statSync } from "node:fs";
import type { Clock } from "../util/clock.ts";
import { messageOf } from "../util/errors.ts";
import { LineLog, type LineLogMessages, type LineMetrics, type LineResult, lineMetrics } from "./line-log.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { RecordingOptions } from "./options.ts";

/** Takes the messages of calls to providers. Never blocks, never throws. */
export interface RecordingSink {
  /** Number of a call, across all providers. */
  nextCall(): number;
  /** @param entry serializable as JSON */
  write(entry: object): void;
  /** A message that could not be serialized. */
  drop(error: unknown): void;
}

export interface RecordingHeader {
  /** Program and version. */
  readonly program: string;
  readonly providers: readonly { readonly name: string; readonly address: string }[];
}

export interface RecordingLogDependencies {
  readonly path: string;
  readonly maxBytes: number;
  readonly header: RecordingHeader;
  readonly metrics: RecordingMetrics;
  readonly log: Logger;
  readonly clock: Clock;
}

export const RECORDING_FORMAT = "cloudwire.recording";
/** Increases with incompatible changes only; added fields are compatible. */
export const RECORDING_VERSION = 1;

const MESSAGES: LineLogMessages = {
  write: "Could not write the recording; lines are queued, and dropped when the queue is full",
  rotate: "Could not rotate the recording",
  reopen: "Could not reopen the recording",
  dropped: "Dropping lines of the recording: the queue is full",
  recovered: "Writing the recording again",
  ended: "The process ends with unwritten lines of the recording",
};

/** Reserved for the line of kind sizeLimit. */
const FOOTER_BYTES = 256;

/** The messages of all calls to providers, in order, written in the background. */
export class RecordingLog implements RecordingSink {
  readonly #deps: RecordingLogDependencies;
  readonly #lines: LineLog;
  readonly #startedMs: number;
  #line = 0;
  #calls = 0;
  #bytes: number;
  #isFull = false;
  /** Since the last line of kind dropped. */
  #dropped = 0;

  /** Throws if the path cannot be opened. Appends to an existing file, with another header. */
  constructor(dependencies: RecordingLogDependencies) {
    const { path, clock, header } = dependencies;
    this.#deps = dependencies;
    // Without rotation: later lines depend on earlier ones.
    this.#lines = new LineLog({ ...dependencies, maxBytes: 0, backups: 1, messages: MESSAGES });
    this.#bytes = statSync(path).size;
    this.#startedMs = clock.monotonicMs();
    const contract = "cloudprovider.v1";
    this.write({ kind: "header", format: RECORDING_FORMAT, version: RECORDING_VERSION, contract, ...header });
  }

  nextCall(): number {
    this.#calls++;
    return this.#calls;
  }

  write(entry: object): void {
    try {
      if (this.#dropped > 0 && this.#append({ kind: "dropped", lines: this.#dropped })) this.#dropped = 0;
      if (!this.#append(entry)) this.#dropped++;
    } catch (error) {
      this.drop(error);
    }
  }

  drop(error: unknown): void {
    this.#line++;
    this.#dropped++;
    this.#deps.metrics.count("dropped", 1);
    this.#deps.log.error("Could not write a call to the recording: internal error", { err: error });
  }

  /** Writes the footer and queued lines for at most `withinMs`. Nothing may be written afterwards. */
  close(withinMs: number): Promise<void> {
    this.write({ kind: "footer" });
    return this.#lines.close(withinMs);
  }

  /** False: the line is dropped. */
  #append(entry: object): boolean {
    const { maxBytes, metrics, log, path } = this.#deps;
    if (this.#isFull) {
      metrics.count("size_limit", 1);
      return true;
    }
    const bytes = this.#bytesOf(entry);
    if (this.#bytes + bytes.length + FOOTER_BYTES > maxBytes) {
      this.#isFull = true;
      this.#lines.append(this.#line, this.#bytesOf({ kind: "sizeLimit" }, this.#line));
      metrics.count("size_limit", 1);
      log.warn("The recording reached --record-provider-maxsize; recording stopped", { file: path });
      return true;
    }
    if (!this.#lines.append(this.#line, bytes)) return false;
    this.#bytes += bytes.length;
    return true;
  }

  #bytesOf(entry: object, line = ++this.#line): Buffer {
    const { clock } = this.#deps;
    const atMs = Math.round((clock.monotonicMs() - this.#startedMs) * 1000) / 1000;
    const time = new Date(clock.nowMs()).toISOString();
    return Buffer.from(`${JSON.stringify({ line, atMs, time, ...entry })}\n`);
  }
}

export type RecordingResult = LineResult | "size_limit";

type RecordingMetrics = LineMetrics<RecordingResult>;

export function recordingMetrics(metrics: Metrics): RecordingMetrics {
  const lines = metrics.counter({
    name: "cloudwire_recording_lines_total",
    help: "Lines of the recording of --record-provider, by result.",
    labels: ["result"],
  });
  const failures = metrics.counter({
    name: "cloudwire_recording_failures_total",
    help: "Failed attempts to write the recording of --record-provider. Writes are retried.",
  });
  return lineMetrics(lines, failures);
}

export type RecordingOpening =
  | { readonly kind: "open"; readonly recording: RecordingLog }
  | { readonly kind: "off"; readonly recording: undefined }
  | { readonly kind: "failed"; readonly problem: string };

export interface RecordingDependencies {
  readonly options: RecordingOptions & { readonly provider: RecordingHeader["providers"] };
  /** Program and version. */
  readonly program: string;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

const MEGABYTE = 1024 * 1024;

export function openRecording({ options, program, metrics, clock, log }: RecordingDependencies): RecordingOpening {
  const { recordProvider: path, recordProviderMaxsize, provider } = options;
  if (path === "") return { kind: "off", recording: undefined };
  if (path === "-") return { kind: "failed", problem: "--record-provider: must be a file, not standard output" };
  const providers = provider.map(({ name, address }) => ({ name, address }));
  try {
    const limits = { path, maxBytes: recordProviderMaxsize * MEGABYTE, header: { program, providers } };
    const recording = new RecordingLog({ ...limits, metrics: recordingMetrics(metrics), clock, log });
    return { kind: "open", recording };
  } catch (error) {
    return { kind: "failed", problem: `--record-provider: ${path}: cannot be opened for writing: ${messageOf(error)}` };
  }
}
