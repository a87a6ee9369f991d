import { readdir, readFile, readlink } from "node:fs/promises";

/** Whether the process is there and not a zombie: PID 1 of a container may never reap the orphans of a killed parent. */
export async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return false;
  // "pid (name) state …"; the name may have spaces and parentheses.
  const state = stat.slice(stat.lastIndexOf(")") + 2).charAt(0);
  return state !== "Z" && state !== "X";
}

/** Process ids of the programs whose working directory is below `dir`. */
export async function runningIn(dir: string): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const folders = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => "")));
  return pids.filter((_, index) => folders[index]?.startsWith(dir));
}
