import { type ExecFileException, execFile } from "node:child_process";

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Written to standard input, which is closed after it. */
  readonly input?: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface RunResult {
  /** Undefined when the program could not be started, or was ended by a signal or the time limit. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly error: Error | undefined;
}

/** Large enough for `kubectl get -o json` of some thousand objects. */
const maxOutputBytes = 256 * 1024 * 1024;

/** Runs a program to its end. An exit code other than 0 is an answer here; the caller knows what it means. */
export function run(command: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const { promise, resolve } = Promise.withResolvers<RunResult>();
  const child = execFile(
    command,
    [...args],
    {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.env === undefined ? {} : { env: options.env }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      timeout: options.timeoutMs,
      killSignal: "SIGKILL",
      maxBuffer: maxOutputBytes,
    },
    (error, stdout, stderr) => resolve({ exitCode: exitCodeOf(error), stdout, stderr, error: error ?? undefined }),
  );
  // A program that ends without reading its input closes the pipe (EPIPE): its exit code reports the result.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(options.input ?? "");
  return promise;
}

function exitCodeOf(error: ExecFileException | null): number | undefined {
  if (error === null) return 0;
  return typeof error.code === "number" ? error.code : undefined;
}
