import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

export interface PromtoolAnswer {
  readonly code: number | null;
  readonly output: string;
}

/** Runs promtool, with `input` at its standard input. */
export async function promtool(args: readonly string[], input = ""): Promise<PromtoolAnswer> {
  const child = spawn("promtool", args);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  child.stdin.end(input);
  const [out, error, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, output: `${out}${error}` };
}
