import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ROOT } from "./checkout.ts";

export interface ProcessSpec {
  readonly name: string;
  /** TypeScript file, relative to the checkout, and its arguments. */
  readonly command: readonly [script: string, ...args: readonly string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** Gets all output of the process. */
  readonly logFile: string;
  /** Matches the line that the process prints when it is ready. start() returns its groups. */
  readonly readyLine: RegExp;
}

export interface SupervisorDeps {
  readonly spec: ProcessSpec;
  /** Called when the process ends without stop(). Returns whether to restart it. */
  readonly onExit: (description: string) => boolean;
  /** Called when the restarted process is ready. */
  readonly onRestart: (pid: number) => void;
}

const READY_TIMEOUT_MS = 30_000;
/** Limits the CPU that a process uses which crashes at its start. */
const RESTART_DELAY_MS = 500;
/** A provider has 10 s to finish its calls. */
const STOP_TIMEOUT_MS = 12_000;
const LOG_TAIL_LINES = 20;
const LEASH = fileURLToPath(new URL("leash.ts", import.meta.url));

/** One process of the demo, restarted after a crash as a kubelet restarts a container. */
export class Supervised {
  readonly #deps: SupervisorDeps;
  #child: ChildProcess | undefined;
  readonly #stopping = new AbortController();

  constructor(deps: SupervisorDeps) {
    this.#deps = deps;
    writeFileSync(deps.spec.logFile, "");
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Resolves with the groups of the ready line; rejects with the end of the log if the process does not become ready. */
  async start(): Promise<readonly string[]> {
    const { spec } = this.#deps;
    const [script, ...args] = spec.command;
    const child = spawn(process.execPath, ["--conditions=development", `--import=${LEASH}`, script, ...args], {
      cwd: ROOT,
      env: { ...process.env, ...spec.env },
      // A separate process group: only the demo receives Ctrl-C, and stops the others in order.
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#child = child;
    const ready = await readyOf(child, spec);
    child.once("exit", (code, signal) => {
      if (!this.#stopping.signal.aborted)
        void this.#onUnexpectedExit(signal === null ? `ended with code ${code}` : `was ended by ${signal}`);
    });
    return ready;
  }

  /** Sends SIGTERM and waits; sends SIGKILL after the timeout. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const child = this.#child;
    if (child === undefined || hasEnded(child)) return;
    const ended = new Promise((resolve) => {
      child.once("exit", resolve);
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    child.kill("SIGTERM");
    await ended;
    clearTimeout(timer);
  }

  async #onUnexpectedExit(description: string): Promise<void> {
    if (!this.#deps.onExit(description)) return;
    while (!this.#stopping.signal.aborted) {
      try {
        await sleep(RESTART_DELAY_MS, undefined, { signal: this.#stopping.signal });
        await this.start();
        this.#deps.onRestart(this.pid);
        return;
      } catch (error) {
        // onRestart() is called once a restart succeeds. The log has the errors of failed ones.
        appendFileSync(this.#deps.spec.logFile, `demo: could not restart it: ${String(error)}\n`);
      }
    }
  }
}

function readyOf(child: ChildProcess, spec: ProcessSpec): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const fail = (message: string): void => {
      clearTimeout(timer);
      reject(new Error(`${spec.name} ${message}. Its last lines:\n${logTail(spec.logFile)}`));
    };
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      fail(`was not ready after ${READY_TIMEOUT_MS / 1_000} s`);
    }, READY_TIMEOUT_MS);
    child.once("error", (error) => fail(`could not be started: ${error.message}`));
    child.once("exit", (code, signal) => fail(`ended before it was ready (${signal ?? `code ${code}`})`));
    const take = (text: string): void => {
      appendFileSync(spec.logFile, `${text}\n`);
      const match = spec.readyLine.exec(text);
      if (match === null) return;
      clearTimeout(timer);
      resolve(match.slice(1));
    };
    for (const stream of [child.stdout, child.stderr]) eachLine(stream, take);
  });
}

function eachLine(stream: Readable | null, take: (line: string) => void): void {
  if (stream !== null) createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on("line", take);
}

function logTail(file: string): string {
  return readFileSync(file, "utf8").trimEnd().split("\n").slice(-LOG_TAIL_LINES).join("\n");
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
