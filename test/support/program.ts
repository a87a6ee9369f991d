import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { eventually } from "./eventually.ts";

/** One of this repository's programs, run from its source, or any other by its path. */
export type ProgramOptions = (
  | {
      /** Of the program's source, relative to the top of the repository. */
      readonly source: string;
    }
  | { readonly command: string }
) & {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** How a signal gets to it, where the process that is started is not the one that is meant. @default to the process */
  readonly signal?: (signal: NodeJS.Signals) => void;
};

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program as a process of its own. */
export class Program implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #exited: Promise<Exit>;
  readonly #name: string;
  readonly #signal: (signal: NodeJS.Signals) => void;
  #output = "";
  #hasClosed = false;

  constructor({ args, env = {}, signal, ...what }: ProgramOptions) {
    const [name, command, before] = "source" in what ? fromSource(what.source) : [what.command, what.command, []];
    this.#name = name;
    this.#process = spawn(command, [...before, ...args], {
      // A program may end when its input does, which is when this process ends, however that happens.
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    this.#signal = signal ?? ((name) => this.#process.kill(name));
    // It may end before its input is closed.
    this.#process.stdin?.on("error", () => undefined);
    this.#exited = new Promise((resolve) => {
      // "close" and not "exit": only then is all of the output here.
      this.#process.once("close", (code, signal) => {
        this.#hasClosed = true;
        resolve({ code, signal });
      });
    });
    for (const stream of [this.#process.stdout, this.#process.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
      });
  }

  /** Standard output and standard error so far. */
  get output(): string {
    return this.#output;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** The first match of `pattern` in the output; fails when it does not come, at once if the program has ended. */
  async said(pattern: RegExp, timeoutMs = 20_000): Promise<RegExpExecArray> {
    const ask = (): RegExpExecArray | undefined => {
      const found = pattern.exec(this.#output) ?? undefined;
      if (found === undefined && this.#hasClosed)
        throw new Error(`${this.#name} ended before it said ${pattern}:\n${this.#output}`);
      return found;
    };
    return eventually(`${this.#name} to say ${pattern}`, timeoutMs, ask, () => this.#output);
  }

  /** How it ended; fails when it does not end in time. */
  async exit(timeoutMs = 20_000): Promise<Exit> {
    const late = new Promise<never>((_resolve, reject) => {
      setTimeout(
        () => reject(new Error(`${this.#name} did not end within ${timeoutMs} ms:\n${this.#output}`)),
        timeoutMs,
      ).unref();
    });
    return Promise.race([this.#exited, late]);
  }

  /** Ends its input, which for some programs means that they are to finish. */
  endInput(): void {
    this.#process.stdin?.end();
  }

  /** Sends the signal to the program itself, also in a container, and waits for nothing. */
  signal(name: NodeJS.Signals): void {
    this.#signal(name);
  }

  /** Sends the signal, if it still runs, and waits for its end. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Exit> {
    if (this.running) this.#signal(signal);
    return this.exit();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.running) this.#signal("SIGKILL");
    await this.#exited;
  }
}

function fromSource(source: string): readonly [string, string, readonly string[]] {
  const path = fileURLToPath(new URL(`../../${source}`, import.meta.url));
  return [source, process.execPath, ["--conditions=development", path]];
}
