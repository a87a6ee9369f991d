import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const CLI = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url));

/** How the command line ended. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** `cloudwire` as a process of its own, which has nothing of this one's environment but the path. */
export function runCli(args: readonly string[]): Promise<Ended> {
  const env = { PATH: process.env["PATH"], HOME: "/nonexistent", LANG: "C.UTF-8" };
  return new Promise((resolve) => {
    execFile(process.execPath, ["--conditions=development", CLI, ...args], { env }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}
