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
  /** All it prints goes there. */
  readonly logFile: string;
  /** The line that says it is ready; its groups are what start() answers. */
  readonly readyLine: RegExp;
}

export interface SupervisorDeps {
  readonly spec: ProcessSpec;
  /** It has ended though nobody asked it to. Answers whether it is to be started again. */
  readonly onLost: (how: string) => boolean;
  /** It was started again and is ready. */
  readonly onBack: (pid: number) => void;
}

const READY_TIMEOUT_MS = 30_000;
/** Long enough that a process which dies at once does not eat a core. */
const RESTART_DELAY_MS = 500;
/** A provider has 10 s to finish its calls. */
const STOP_TIMEOUT_MS = 12_000;
const LOG_TAIL_LINES = 20;
const LEASH = fileURLToPath(new URL("leash.ts", import.meta.url));

/** One process of the demo: started, watched, started again like a container by a kubelet, ended. */
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

  /** Resolves when it has said that it is ready, with what it said; rejects, with the end of its log, when it never does. */
  async start(): Promise<readonly string[]> {
    const { spec } = this.#deps;
    const [script, ...args] = spec.command;
    const child = spawn(process.execPath, ["--conditions=development", `--import=${LEASH}`, script, ...args], {
      cwd: ROOT,
      env: { ...process.env, ...spec.env },
      // A process group of its own: Ctrl-C reaches the demo alone, which ends the others in order.
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#child = child;
    const ready = await readyOf(child, spec);
    child.once("exit", (code, signal) => {
      if (!this.#stopping.signal.aborted)
        void this.#lost(signal === null ? `ended with code ${code}` : `was ended by ${signal}`);
    });
    return ready;
  }

  /** Asks it to end and waits; one that does not in time is killed. */
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

  async #lost(how: string): Promise<void> {
    if (!this.#deps.onLost(how)) return;
    while (!this.#stopping.signal.aborted) {
      try {
        await sleep(RESTART_DELAY_MS, undefined, { signal: this.#stopping.signal });
        await this.start();
        this.#deps.onBack(this.pid);
        return;
      } catch (error) {
        // Told once it is back; why not is in its log, which the demo names.
        appendFileSync(this.#deps.spec.logFile, `demo: could not start it again: ${String(error)}\n`);
      }
    }
  }
}

function readyOf(child: ChildProcess, spec: ProcessSpec): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const fail = (what: string): void => {
      clearTimeout(timer);
      reject(new Error(`${spec.name} ${what}. Its last lines:\n${logTail(spec.logFile)}`));
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
