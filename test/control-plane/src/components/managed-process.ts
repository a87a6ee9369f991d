import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { ControlPlaneError } from "../errors.ts";

export interface ProcessOptions {
  /** File name of the command, for messages. */
  readonly program: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Gets standard output and standard error; an existing file is continued. */
  readonly logPath: string;
}

export interface Exit {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * Environment that makes a program of this module end with this process (see internal/parent): when its standard input
 * closes or this process is killed, or, for a program that reads its input, only when this process is killed.
 */
export function endWithParent(mode: "stdin" | "signal"): Readonly<Record<string, string>> {
  return { CLOUDWIRE_END_WITH_PARENT: `${mode}:${process.pid}` };
}

const linesInErrors = 12;

/** A program of this module, running as a direct child that ends when this process ends, however that happens. */
export class ManagedProcess {
  readonly program: string;
  readonly pid: number;
  readonly logPath: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<Exit>;
  #exit: Exit | undefined;

  private constructor(options: ProcessOptions, child: ChildProcess, pid: number) {
    this.program = options.program;
    this.pid = pid;
    this.logPath = options.logPath;
    this.#child = child;
    const { promise, resolve } = Promise.withResolvers<Exit>();
    this.#ended = promise;
    child.once("exit", (exitCode, signal) => {
      this.#exit = { exitCode, signal };
      resolve(this.#exit);
    });
  }

  static async start(options: ProcessOptions): Promise<ManagedProcess> {
    const log = await open(options.logPath, "a");
    try {
      const child = spawn(options.command, [...options.args], {
        cwd: options.cwd,
        env: { ...options.env, ...endWithParent("stdin") },
        stdio: ["pipe", log.fd, log.fd],
        // A session of its own: Ctrl-C in the terminal reaches the test process only, which ends the rest in order.
        detached: true,
      });
      const spawned = once(child, "spawn");
      if (child.pid === undefined) {
        await spawned;
        throw new Error("it has no process id");
      }
      const process = new ManagedProcess(options, child, child.pid);
      await spawned;
      // A test process that forgets to stop it must be able to end anyway.
      child.unref();
      return process;
    } catch (cause) {
      throw new ControlPlaneError("PROCESS_ENDED", `start ${options.program} (${options.command}): ${String(cause)}`, {
        cause,
      });
    } finally {
      await log.close();
    }
  }

  /** How it ended; undefined while it runs. */
  get exit(): Exit | undefined {
    return this.#exit;
  }

  /** Throws when it has ended although no one asked it to. */
  async requireRunning(): Promise<void> {
    if (this.#exit === undefined) return;
    const { exitCode, signal } = this.#exit;
    throw new ControlPlaneError(
      "PROCESS_ENDED",
      `${this.program} (pid ${this.pid}) ended with ${signal ?? exitCode}; log: ${this.logPath}, which ends with:\n${await this.#logTail()}`,
    );
  }

  /** Ends it with SIGKILL, or with SIGTERM and, if it has not ended after `graceMs`, with SIGKILL. */
  async stop(graceMs = 0): Promise<Exit> {
    if (graceMs > 0 && this.#exit === undefined) {
      this.#child.kill("SIGTERM");
      const limit = new AbortController();
      await Promise.race([this.#ended, sleep(graceMs, undefined, { signal: limit.signal }).catch(() => undefined)]);
      limit.abort();
    }
    // Does nothing once the exit was seen, so it never reaches another process that got the same id.
    if (this.#exit === undefined) this.#child.kill("SIGKILL");
    this.#child.ref();
    return await this.#ended;
  }

  async #logTail(): Promise<string> {
    const log = await readFile(this.logPath, "utf8").catch(() => "");
    return log.trimEnd().split("\n").slice(-linesInErrors).join("\n");
  }
}
