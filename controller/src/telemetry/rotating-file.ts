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

export interface AuditFileOptions {
  /** `-`: standard output. */
  readonly path: string;
  /** A file that would grow beyond it is put aside. 0: never. */
  readonly maxBytes: number;
  /** Files put aside that are kept. */
  readonly backups: number;
}

/** How far an append came. */
export interface Appended {
  readonly bytes: number;
  /** Why not all of it was written; undefined: it was. */
  readonly error: unknown;
}

const STANDARD_OUTPUT = 1;
const MODE = 0o600;
/** Without blocking: a named pipe that nobody reads would hold up the start. */
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

const descriptor = {
  close: promisify(close),
  fstat: promisify(fstat),
  ftruncate: promisify(ftruncate),
  open: promisify(open),
  rename: promisify(rename),
  write: promisify(write),
};

/** A file that is appended to, put aside when it is large, and opened anew where another program has put it aside. One call at a time. */
export class AuditFile {
  readonly #options: AuditFileOptions;
  #descriptor: number;

  private constructor(options: AuditFileOptions, opened: number) {
    this.#options = options;
    this.#descriptor = opened;
  }

  /** Throws where the path cannot be opened. */
  static open(options: AuditFileOptions): AuditFile {
    const { path } = options;
    if (path === "-") return new AuditFile(options, STANDARD_OUTPUT);
    const opened = openSync(path, FLAGS, MODE);
    try {
      endHalfLine(path, opened);
    } catch {
      // A disk that is full, or a file that may be written and not read: neither holds up the start.
    }
    return new AuditFile(options, opened);
  }

  /** Puts the file aside where `bytes` more would be too many. Rejects when that fails; what is there can be appended to all the same. */
  async makeRoom(bytes: number): Promise<void> {
    const { path, maxBytes, backups } = this.#options;
    if (path === "-" || maxBytes === 0) return;
    const stats = await descriptor.fstat(this.#descriptor);
    if (!stats.isFile() || stats.size === 0 || stats.size + bytes <= maxBytes) return;
    // First what may fail for want of room: nothing has been moved then.
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

  /** All of it, or nothing where the file can be cut back: no line stays half written. */
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

  /** Follows the path: whoever moved the file away wants a new one. */
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
    const former = this.#descriptor;
    this.#descriptor = opened;
    await descriptor.close(former);
  }
}

/** A process that was killed while it wrote leaves half a line, which must not take the next one with it. */
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

/** A file that is not there needs no moving. */
async function moved(from: string, to: string): Promise<void> {
  try {
    await descriptor.rename(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}
