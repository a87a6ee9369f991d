import type { Counter } from "prom-client";
import type { Clock, Timer } from "../util/clock.ts";
import type { Logger } from "./log.ts";
import { RotatingFile, type RotatingFileOptions } from "./rotating-file.ts";

/** Log messages about the file. */
export interface LineLogMessages {
  readonly write: string;
  readonly rotate: string;
  readonly reopen: string;
  readonly dropped: string;
  readonly recovered: string;
  /** The process ends with unwritten lines. */
  readonly ended: string;
}

export interface LineMetrics<Result = LineResult> {
  count(result: Result, lines: number): void;
  /** A write, a rotation or a reopening failed and is retried. */
  failed(): void;
}

export type LineResult = "written" | "dropped";

export function lineMetrics<Result extends string>(lines: Counter<"result">, failures: Counter): LineMetrics<Result> {
  return { count: (result, number) => lines.inc({ result }, number), failed: () => failures.inc() };
}

export interface LineLogDependencies extends RotatingFileOptions {
  readonly messages: LineLogMessages;
  readonly metrics: LineMetrics;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Limit of the queue for a file that cannot be written: some ten thousand lines. New lines are dropped beyond it. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

const BATCH_BYTES = 256 * 1024;

const RETRY_MS = 5000;

/** For a pipe whose reader is slow, which is not a failure. */
const FULL_PIPE_MS = 20;

type Trouble = "write" | "rotate" | "reopen";

/** Writes lines in order and in the background. */
export class LineLog {
  readonly #deps: LineLogDependencies;
  readonly #file: RotatingFile;
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Being written: whole lines, except that the start of the first may be written already. */
  #batch: Buffer = Buffer.alloc(0);
  #batchLines = 0;
  /** Since the last log message about dropped lines. */
  #dropped = 0;
  /** Current failures that have been logged. */
  readonly #logged = new Set<Trouble>();
  #wantsReopening = false;
  #retry: Timer | undefined;
  #draining: Promise<void> | undefined;

  /** Throws if the path cannot be opened. */
  constructor(dependencies: LineLogDependencies) {
    this.#deps = dependencies;
    this.#file = RotatingFile.open(dependencies);
  }

  /** False: the line, of that number, is dropped because the queue is full. */
  append(line: number, bytes: Buffer): boolean {
    if (this.#waitingBytes + bytes.length > MAX_WAITING_BYTES) {
      this.#drop(line);
      return false;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#drain();
    return true;
  }

  /** For programs such as logrotate that have moved the file. */
  reopen(): void {
    this.#wantsReopening = true;
    this.#cancelRetry();
    this.#drain();
  }

  /** Writes queued lines for at most `withinMs`. Nothing may be written afterwards. */
  async close(withinMs: number): Promise<void> {
    const { clock, log, metrics, messages, path } = this.#deps;
    this.#cancelRetry();
    this.#drain();
    const over = Promise.withResolvers<void>();
    const timer = clock.schedule(withinMs, over.resolve);
    await Promise.race([this.#draining, over.promise]);
    timer.cancel();
    this.#cancelRetry();
    const lines = this.#waiting.length + this.#batchLines;
    if (lines === 0) return this.#file.close();
    metrics.count("dropped", lines);
    log.error(messages.ended, { file: path, lines });
  }

  #drain(): void {
    if (this.#draining !== undefined || this.#retry !== undefined) return;
    this.#draining = this.#writeAll().finally(() => {
      this.#draining = undefined;
      if (this.#waiting.length > 0 || this.#wantsReopening) this.#drain();
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#wantsReopening || this.#batch.length > 0 || this.#waiting.length > 0) {
      if (this.#wantsReopening) {
        this.#wantsReopening = false;
        await this.#attempt("reopen", () => this.#file.reopen());
      }
      if (this.#batch.length === 0) this.#fillBatch();
      if (this.#batch.length === 0) return;
      await this.#attempt("rotate", () => this.#file.makeRoom(this.#batch.length));
      const { bytes, error } = await this.#file.append(this.#batch);
      this.#batch = this.#batch.subarray(bytes);
      if (isFullPipe(error)) await this.#wait(FULL_PIPE_MS);
      else if (error !== undefined) return this.#retryLater(error);
      else this.#written();
    }
  }

  #fillBatch(): void {
    const taken: Buffer[] = [];
    let bytes = 0;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[taken.length]) {
      if (taken.length > 0 && bytes + next.length > BATCH_BYTES) break;
      taken.push(next);
      bytes += next.length;
    }
    this.#waiting.splice(0, taken.length);
    this.#waitingBytes -= bytes;
    this.#batch = Buffer.concat(taken);
    this.#batchLines = taken.length;
  }

  #written(): void {
    const { metrics, log, messages, path } = this.#deps;
    metrics.count("written", this.#batchLines);
    this.#batchLines = 0;
    if (!this.#logged.delete("write") && this.#dropped === 0) return;
    log.info(messages.recovered, { file: path, dropped: this.#dropped });
    this.#dropped = 0;
  }

  #retryLater(error: unknown): void {
    this.#failed("write", error);
    this.#retry = this.#deps.clock.schedule(RETRY_MS, () => {
      this.#retry = undefined;
      this.#drain();
    });
  }

  #cancelRetry(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
  }

  /** After a failure lines still go to the open file. */
  async #attempt(trouble: Trouble, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#logged.delete(trouble);
    } catch (error) {
      this.#failed(trouble, error);
    }
  }

  #failed(trouble: Trouble, err: unknown): void {
    const { metrics, log, messages, path } = this.#deps;
    metrics.failed();
    if (this.#logged.has(trouble)) return;
    this.#logged.add(trouble);
    log.error(messages[trouble], { file: path, err });
  }

  #drop(firstLine: number): void {
    const { metrics, log, messages, path } = this.#deps;
    metrics.count("dropped", 1);
    if (this.#dropped === 0) log.error(messages.dropped, { file: path, firstLine });
    this.#dropped++;
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#deps.clock.schedule(delayMs, resolve);
    });
  }
}

function isFullPipe(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EAGAIN";
}
