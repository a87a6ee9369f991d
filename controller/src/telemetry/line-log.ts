import type { Clock, Timer } from "../util/clock.ts";
import { AuditFile, type AuditFileOptions } from "./rotating-file.ts";
import type { Logger } from "./log.ts";

/** What goes wrong with such a file, in the words of the log. */
export interface LineLogWords {
  readonly write: string;
  readonly rotate: string;
  readonly reopen: string;
  /** Lines are lost: too many wait. */
  readonly lost: string;
  /** After one of the above. */
  readonly again: string;
  /** The process ends before all is written. */
  readonly ended: string;
}

/** What becomes of lines. */
export interface LineMetrics {
  count(fate: "written" | "dropped", lines: number): void;
  /** A write, a rotation or a reopening failed; lines wait and are tried again. */
  failed(): void;
}

export interface LineLogDependencies extends AuditFileOptions {
  readonly words: LineLogWords;
  readonly metrics: LineMetrics;
  readonly log: Logger;
  readonly clock: Clock;
}

/** What may wait for a file that cannot be written: some ten thousand lines. Then new ones are lost, and old ones kept. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/** Written at once at most. */
const BATCH_BYTES = 256 * 1024;

/** Until the next try after one that failed. */
const RETRY_MS = 5000;

/** The same where a pipe is full, which is no failure: its reader is slow. */
const FULL_PIPE_MS = 20;

type Trouble = "write" | "rotate" | "reopen";

/** Lines of a file in the order in which they came, behind the work that they tell of: whoever writes one never waits for it. */
export class LineLog {
  readonly #deps: LineLogDependencies;
  readonly #file: AuditFile;
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** What is being written: whole lines, but for the beginning of the first where that is written. */
  #batch: Buffer = Buffer.alloc(0);
  #batchLines = 0;
  /** Since the log said last that lines are lost, or that they no longer are. */
  #lost = 0;
  /** What fails now and has been told. */
  readonly #told = new Set<Trouble>();
  #wantsReopening = false;
  #retry: Timer | undefined;
  #draining: Promise<void> | undefined;

  private constructor(dependencies: LineLogDependencies) {
    this.#deps = dependencies;
    this.#file = AuditFile.open(dependencies);
  }

  /** Throws where the path cannot be opened. */
  static open(dependencies: LineLogDependencies): LineLog {
    return new LineLog(dependencies);
  }

  /** False: the line, of that number, is lost, for too many wait. */
  append(line: number, bytes: Buffer): boolean {
    if (this.#waitingBytes + bytes.length > MAX_WAITING_BYTES) {
      this.#loseOne(line);
      return false;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#drain();
    return true;
  }

  /** Another program has put the file aside, as logrotate does. */
  reopen(): void {
    this.#wantsReopening = true;
    this.#cancelRetry();
    this.#drain();
  }

  /** Writes what waits, for so long at most. Nothing may be written afterwards. */
  async close(withinMs: number): Promise<void> {
    const { clock, log } = this.#deps;
    this.#cancelRetry();
    this.#drain();
    const over = Promise.withResolvers<void>();
    const timer = clock.schedule(withinMs, over.resolve);
    await Promise.race([this.#draining, over.promise]);
    timer.cancel();
    this.#cancelRetry();
    const lines = this.#waiting.length + this.#batchLines;
    if (lines > 0) {
      this.#deps.metrics.count("dropped", lines);
      return log.error(this.#deps.words.ended, { file: this.#path, lines });
    }
    await this.#file.close();
  }

  get #path(): string {
    return this.#deps.path;
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
      if (this.#wantsReopening) await this.#reopenFile();
      if (this.#batch.length === 0) this.#fillBatch();
      if (this.#batch.length === 0) return;
      await this.#noting("rotate", () => this.#file.makeRoom(this.#batch.length));
      const { bytes, error } = await this.#file.append(this.#batch);
      this.#batch = this.#batch.subarray(bytes);
      if (isFullPipe(error)) await this.#wait(FULL_PIPE_MS);
      else if (error !== undefined) return this.#tryLater(error);
      else this.#noteWritten();
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

  #noteWritten(): void {
    const { metrics, log } = this.#deps;
    metrics.count("written", this.#batchLines);
    this.#batchLines = 0;
    if (!this.#told.delete("write") && this.#lost === 0) return;
    log.info(this.#deps.words.again, { file: this.#path, dropped: this.#lost });
    this.#lost = 0;
  }

  async #reopenFile(): Promise<void> {
    this.#wantsReopening = false;
    await this.#noting("reopen", () => this.#file.reopen());
  }

  #tryLater(error: unknown): void {
    this.#tell("write", error);
    this.#retry = this.#deps.clock.schedule(RETRY_MS, () => {
      this.#retry = undefined;
      this.#drain();
    });
  }

  #cancelRetry(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
  }

  /** What is written meanwhile goes where it went. */
  async #noting(trouble: Trouble, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#told.delete(trouble);
    } catch (error) {
      this.#tell(trouble, error);
    }
  }

  /** Once until it works again. */
  #tell(trouble: Trouble, err: unknown): void {
    const { metrics, log } = this.#deps;
    metrics.failed();
    if (this.#told.has(trouble)) return;
    this.#told.add(trouble);
    log.error(this.#deps.words[trouble], { file: this.#path, err });
  }

  #loseOne(firstLine: number): void {
    const { metrics, log, words } = this.#deps;
    metrics.count("dropped", 1);
    if (this.#lost === 0) log.error(words.lost, { file: this.#path, firstLine });
    this.#lost++;
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
