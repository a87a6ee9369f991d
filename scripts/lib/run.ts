import { spawn } from "node:child_process";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout's top directory. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export interface RunOptions {
  /** Directory to run in, relative to the checkout; default: the checkout. */
  readonly cwd?: string;
  /** "show" lets the command write to our terminal; "keep" collects stdout and stderr together. */
  readonly output: "show" | "keep";
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Written to the command's standard input, default: empty. */
  readonly input?: string;
}

export interface RunResult {
  /** Exit code; by the shell's convention 128 plus the signal's number when a signal ended it. */
  readonly code: number;
  /** What it printed, when it was to be kept. */
  readonly output: string;
}

/** Runs one command to its end. It never throws for a command that fails: that is a result. */
export function run(command: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const kept: Buffer[] = [];
  const piped = options.output === "keep" ? "pipe" : "inherit";
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: join(ROOT, options.cwd ?? "."),
      env: { ...process.env, ...options.env },
      stdio: [options.input === undefined ? "ignore" : "pipe", piped, piped],
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    child.stdout?.on("data", (chunk: Buffer) => kept.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => kept.push(chunk));
    child.stdin?.end(options.input);
    child.once("error", (error) => {
      reject(new Error(`cannot run "${command}": ${error.message}`, { cause: error }));
    });
    child.once("close", (code, signal) => {
      resolve({ code: code ?? signalExitCode(signal), output: Buffer.concat(kept).toString("utf8") });
    });
  });
}

/** Runs a command from a program (npm's own tools are found through PATH) and returns what it printed; throws when it fails. */
export async function capture(command: string, args: readonly string[]): Promise<string> {
  const { code, output } = await run(command, args, { output: "keep" });
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} failed (exit ${code}): ${output.trim()}`);
  return output;
}

function signalExitCode(signal: NodeJS.Signals | null): number {
  return signal === null ? 1 : 128 + constants.signals[signal];
}
