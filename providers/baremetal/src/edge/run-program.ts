import { spawn } from "node:child_process";

/** What a program wrote and how it ended. */
export interface ProgramResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of this machine; the only way in which the provider does. Never through a shell. */
export type RunProgram = (
  program: string,
  args: readonly string[],
  options?: { readonly input?: string; readonly timeoutMs?: number },
) => Promise<ProgramResult>;

/** A program could not be run, took too long or ended with a code other than 0. */
class ProgramError extends Error {
  readonly code: "MISSING" | "TIMEOUT" | "FAILED";

  constructor(code: ProgramError["code"], message: string) {
    super(message);
    this.name = "ProgramError";
    this.code = code;
  }
}

const defaultTimeoutMs = 10_000;
const maxOutputChars = 64 * 1024 * 1024;

/** Runs the program and returns its exit code and output; rejects with {@link ProgramError} if it cannot be run or times out. */
export const runProgram: RunProgram = (program, args, { input, timeoutMs = defaultTimeoutMs } = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, [...args], {
      stdio: ["pipe", "pipe", "pipe"],
      timeout: timeoutMs,
      killSignal: "SIGKILL",
      env: { PATH: process.env["PATH"] ?? "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" },
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      if (stdout.length > maxOutputChars) child.kill("SIGKILL");
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(-65_536);
    });
    // It may end before it has read its input.
    child.stdin.on("error", () => undefined);
    child.once("error", ({ message }) => {
      reject(new ProgramError("MISSING", `${program} cannot be run: ${message}; install it or correct its path`));
    });
    child.once("close", (code, signal) => {
      if (code !== null) resolve({ code, stdout, stderr });
      else
        reject(
          new ProgramError("TIMEOUT", `${program} ${args[0] ?? ""} did not finish within ${timeoutMs} ms (${signal})`),
        );
    });
    child.stdin.end(input ?? "");
  });

/** The program's output; rejects with {@link ProgramError} unless it exits with 0. */
export async function output(
  run: RunProgram,
  program: string,
  args: readonly string[],
  options?: Parameters<RunProgram>[2],
): Promise<string> {
  const { code, stdout, stderr } = await run(program, args, options);
  if (code === 0) return stdout;
  const said = (stderr.trim() || stdout.trim()).slice(0, 500);
  throw new ProgramError("FAILED", `${program} ${args.join(" ").slice(0, 200)} exited with code ${code}: ${said}`);
}
