import {
  close,
  closeSync,
  constants,
  fstat,
  fstatSync,
  ftruncate,
  open,
  openSync,
  readSync,
  rename,
  write,
  writeSync,
} from "node:fs";
import { promisify } from "node:util";

export interface RotatingFileOptions {
  /** `-`: standard output. */
  readonly path: string;
  /** The file is rotated before it exceeds this size. 0: never. */
  readonly maxBytes: number;
  /** Rotated files to keep. */
  readonly backups: number;
}

export interface Appended {
  readonly bytes: number;
  /** undefined: everything was written. */
  readonly error: unknown;
}

const STANDARD_OUTPUT = 1;
const MODE = 0o600;
/** Non-blocking: a named pipe without a reader would block the start. */
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

const descriptor = {
  close: promisify(close),
  fstat: promisify(fstat),
  ftruncate: promisify(ftruncate),
  open: promisify(open),
  rename: promisify(rename),
  write: promisify(write),
};

/** A file that is rotated by size, and reopened after another program rotated it. Calls must not overlap. */
export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #descriptor: number;

  private constructor(options: RotatingFileOptions, opened: number) {
    this.#options = options;
    this.#descriptor = opened;
  }

  /** Throws if the path cannot be opened. */
  static open(options: RotatingFileOptions): RotatingFile {
    const { path } = options;
    if (path === "-") return new RotatingFile(options, STANDARD_OUTPUT);
    const opened = openSync(path, FLAGS, MODE);
    try {
      endHalfLine(path, opened);
    } catch {
      // A full disk, or a file without read permission, must not prevent the start.
    }
    return new RotatingFile(options, opened);
  }

  /** Rotates the file if it cannot take `bytes` more. After a rejection it can still be appended to. */
  async makeRoom(bytes: number): Promise<void> {
    const { path, maxBytes, backups } = this.#options;
    if (path === "-" || maxBytes === 0) return;
    const stats = await descriptor.fstat(this.#descriptor);
    if (!stats.isFile() || stats.size === 0 || stats.size + bytes <= maxBytes) return;
    // The step that fails on a full disk comes first, before any file is moved.
    const next = `${path}.new`;
    const opened = await descriptor.open(next, FLAGS, MODE);
    try {
      for (let age = backups - 1; age > 0; age--) await moved(`${path}.${age}`, `${path}.${age + 1}`);
      await moved(path, `${path}.1`);
      await descriptor.rename(next, path);
    } catch (error) {
      await descriptor.close(opened);
      throw error;
    }
    await this.#replace(opened);
  }

  /** Appends everything, or nothing if the file can be truncated: no line stays half written. */
  async append(bytes: Uint8Array): Promise<Appended> {
    let done = 0;
    try {
      while (done < bytes.length) {
        const { bytesWritten } = await descriptor.write(this.#descriptor, bytes, done, bytes.length - done);
        done += bytesWritten;
      }
      return { bytes: done, error: undefined };
    } catch (error) {
      return { bytes: (await this.#cutBack(done)) ? 0 : done, error };
    }
  }

  async reopen(): Promise<void> {
    const { path } = this.#options;
    if (path !== "-") await this.#replace(await descriptor.open(path, FLAGS, MODE));
  }

  async close(): Promise<void> {
    if (this.#options.path !== "-") await descriptor.close(this.#descriptor);
  }

  async #cutBack(bytes: number): Promise<boolean> {
    if (bytes === 0) return true;
    try {
      const stats = await descriptor.fstat(this.#descriptor);
      if (!stats.isFile()) return false;
      await descriptor.ftruncate(this.#descriptor, Math.max(0, stats.size - bytes));
      return true;
    } catch {
      return false;
    }
  }

  async #replace(opened: number): Promise<void> {
    const previous = this.#descriptor;
    this.#descriptor = opened;
    await descriptor.close(previous);
  }
}

/** A process that was killed may leave half a line, which must not merge with the next one. */
function endHalfLine(path: string, opened: number): void {
  const { size } = fstatSync(opened);
  if (size === 0) return;
  const reader = openSync(path, "r");
  try {
    const last = Buffer.alloc(1);
    readSync(reader, last, 0, 1, size - 1);
    if (last.toString() !== "\n") writeSync(opened, "\n");
  } finally {
    closeSync(reader);
  }
}

/** A missing file is not an error. */
async function moved(from: string, to: string): Promise<void> {
  try {
    await descriptor.rename(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}
