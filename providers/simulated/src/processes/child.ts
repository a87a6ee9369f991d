import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** A process of ours that said that it is ready. */
export interface Child {
  readonly process: ChildProcess;
  /** What stood behind "ready" in the line. */
  readonly readyText: string;
  /** What it wrote to standard error and standard output so far, the last 64 KiB. */
  readonly output: () => string;
  /** Sends the signal, if it still runs, and waits for its end. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>;
}

export interface ChildOptions {
  /** Of the program, relative to this directory, without its extension. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The line of standard output that says that it is ready. */
  readonly ready: RegExp;
  readonly readyTimeoutMs: number;
}

/** Starts one of this package's programs and waits until it is ready. Rejects with its output if it ends or takes too long. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const child = spawn(process.execPath, commandOf(options.program, options.args), {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...options.env },
  });
  let output = "";
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => {
      resolve();
    });
  });
  const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
  };
  const readyText = await new Promise<string>((resolve, reject) => {
    const fail = (what: string): void => {
      clearTimeout(timer);
      reject(new Error(`${options.program} ${what}:\n${output}`));
    };
    const timer = setTimeout(() => {
      fail(`was not ready after ${options.readyTimeoutMs} ms`);
      void stop("SIGKILL");
    }, options.readyTimeoutMs);
    child.once("error", (error) => {
      fail(`could not be started (${error.message})`);
    });
    child.once("exit", (code, signal) => {
      fail(`ended with ${signal ?? `code ${code}`}`);
    });
    const take = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-maxOutputChars);
      const found = options.ready.exec(output);
      if (!found) return;
      clearTimeout(timer);
      resolve(found[1] ?? "");
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
  });
  return { process: child, readyText, output: () => output, stop };
}

const maxOutputChars = 65_536;

/** From sources the program runs unbuilt, from `dist` as it is. */
function commandOf(program: string, args: readonly string[]): string[] {
  const isSource = import.meta.url.endsWith(".ts");
  const path = fileURLToPath(new URL(`${program}${isSource ? ".ts" : ".js"}`, import.meta.url));
  return isSource ? ["--conditions=development", path, ...args] : [path, ...args];
}
