import { statSync } from "node:fs";
import type { Clock } from "../util/clock.ts";
import { messageOf } from "../util/errors.ts";
import { LineLog, type LineLogWords } from "./line-log.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { RecordingOptions } from "./options.ts";

/** Takes what goes over the wire to providers. Never blocks, never throws. */
export interface RecordingSink {
  /** Of a call that begins, across all providers. */
  nextCall(): number;
  /** @param entry what JSON can hold */
  write(entry: object): void;
  /** Something of which no line could be made. */
  lose(error: unknown): void;
}

/** What the first line says of where the recording is from. */
export interface RecordingHead {
  /** Program and version. */
  readonly program: string;
  readonly providers: readonly { readonly name: string; readonly address: string }[];
}

export interface RecordingLogDependencies {
  readonly path: string;
  /** The file grows no larger. */
  readonly maxBytes: number;
  readonly head: RecordingHead;
  readonly metrics: RecordingMetrics;
  readonly log: Logger;
  readonly clock: Clock;
}

export const RECORDING_FORMAT = "cloudwire.recording";
/** Another one only where a reader of the former would go wrong; fields may be added without. */
export const RECORDING_VERSION = 1;

const WORDS: LineLogWords = {
  write: "The recording cannot be written; calls go on, lines wait until it can, and are lost when too many do",
  rotate: "The recording cannot be put aside",
  reopen: "The recording cannot be opened anew",
  lost: "Lines of the recording are lost: too many wait to be written",
  again: "The recording is written again",
  ended: "The process ends before the end of the recording was written",
};

/** Room for the line that says that the file is full. */
const TAIL_BYTES = 256;

/** The recording of the process: what went over the wire to its providers, in the order in which it did, behind the calls. */
export class RecordingLog implements RecordingSink {
  readonly #deps: RecordingLogDependencies;
  readonly #lines: LineLog;
  readonly #startedMs: number;
  #line = 0;
  #calls = 0;
  #bytes: number;
  #isFull = false;
  /** Since the file said last that lines are lost. */
  #lost = 0;

  private constructor(dependencies: RecordingLogDependencies) {
    const { path, clock, head } = dependencies;
    this.#deps = dependencies;
    // No rotation: what a recording begins with, its later lines are of no use without.
    this.#lines = LineLog.open({ ...dependencies, maxBytes: 0, backups: 1, words: WORDS });
    this.#bytes = statSync(path).size;
    this.#startedMs = clock.monotonicMs();
    const contract = "cloudprovider.v1";
    this.write({ kind: "header", format: RECORDING_FORMAT, version: RECORDING_VERSION, contract, ...head });
  }

  /** Throws where the path cannot be opened. What the file has is kept: the recording goes on behind it, with a head of its own. */
  static open(dependencies: RecordingLogDependencies): RecordingLog {
    return new RecordingLog(dependencies);
  }

  nextCall(): number {
    this.#calls++;
    return this.#calls;
  }

  write(entry: object): void {
    try {
      if (this.#lost > 0 && this.#append({ kind: "dropped", lines: this.#lost })) this.#lost = 0;
      if (!this.#append(entry)) this.#lost++;
    } catch (error) {
      this.lose(error);
    }
  }

  lose(error: unknown): void {
    this.#line++;
    this.#lost++;
    this.#deps.metrics.count("dropped", 1);
    this.#deps.log.error("Could not write a call to the recording: internal error", {
      err: error,
    });
  }

  /** Says that the recording is whole and writes what waits, for so long at most. Nothing may be written afterwards. */
  close(withinMs: number): Promise<void> {
    this.write({ kind: "footer" });
    return this.#lines.close(withinMs);
  }

  /** False: the line is lost. */
  #append(entry: object): boolean {
    const { maxBytes, metrics, log, path } = this.#deps;
    if (this.#isFull) {
      metrics.count("size_limit", 1);
      return true;
    }
    const bytes = this.#bytesOf(entry);
    if (this.#bytes + bytes.length + TAIL_BYTES > maxBytes) {
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

/** What becomes of lines of a recording. */
export type RecordingFate = "written" | "dropped" | "size_limit";

export interface RecordingMetrics {
  count(fate: RecordingFate, lines: number): void;
  /** A write failed; lines wait and are tried again. */
  failed(): void;
}

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
  return { count: (fate, number) => lines.inc({ result: fate }, number), failed: () => failures.inc() };
}

export type RecordingOpening =
  | { readonly kind: "open"; readonly recording: RecordingLog }
  | { readonly kind: "off"; readonly recording: undefined }
  | { readonly kind: "failed"; readonly problem: string };

export interface RecordingDependencies {
  readonly options: RecordingOptions & { readonly provider: RecordingHead["providers"] };
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
