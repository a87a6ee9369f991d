import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const main = join(import.meta.dirname, "../main.ts");

/** A directory that is gone after the test. */
export const temporaryDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "conformance-cli-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

/** The kit as a program, from its sources; gone after the test. */
export const kit = (...args: readonly string[]) => {
  const child = spawn(process.execPath, ["--conditions=development", main, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk.toString()));
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    child.once("close", (code) => resolve({ code, out: out.join(""), err: err.join("") }));
  });
  return { child, ended, said: () => err.join("") };
};

/** Whether there is such a process. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
