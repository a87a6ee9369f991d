import { type ExecFileOptions, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The checkout's top directory. */
export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** An error that the user of the build can fix: printed as one line, without a stack. */
export class BuildError extends Error {}

/** What the program printed on its standard output. */
export async function outputOf(
  program: string,
  args: readonly string[],
  options: ExecFileOptions = {},
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, args, { maxBuffer: MAX_OUTPUT_BYTES, ...options });
    return String(stdout);
  } catch (error) {
    throw new BuildError(messageOf(program, args, error), { cause: error });
  }
}

/** The program's standard output as it comes, read to its end by `read`; an error when the program fails. */
export async function streamOf<T>(
  program: string,
  args: readonly string[],
  read: (output: Readable) => Promise<T>,
): Promise<T> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exit = once(child, "close");
  const [result, [code]] = await Promise.all([read(child.stdout), exit]);
  if (code !== 0) throw new BuildError(`${program} ${args.join(" ")} ended with code ${String(code)}`);
  return result;
}

function messageOf(program: string, args: readonly string[], error: unknown): string {
  if (!(error instanceof Error)) return `${program}: ${String(error)}`;
  if ("code" in error && error.code === "ENOENT")
    return `there is no program ${program} here: images are built on a machine with Debian's apt and with npm`;
  const said = "stderr" in error ? String(error.stderr).trim() : error.message;
  return `${program} ${args.join(" ")} failed: ${said}`;
}
